"""The words of one era in those of the other: capabilities, requests, results, errors. Pure.

Bytes that mean the same in both eras are kept as they came; only what one era has and the other lacks is put in or
taken out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from strictwire.canon.json import JsonObject, JsonValue, join_members, render, slice_items, slice_members
from strictwire.gateway.link import Answer, Question
from strictwire.gateway.rewrite import ID, TOKEN, replace_at, slice_at, value_at
from strictwire.profiles.mcp.context import NEEDS
from strictwire.profiles.mcp.era import META_CAPABILITIES, META_CLIENT, META_LOG_LEVEL, META_SERVER, META_VERSION
from strictwire.wire.envelope import RequestId, render_error, render_result

CLIENT_CAPABILITIES: Final = ("roots", "sampling", "elicitation", "experimental")
"""What a client can offer in both eras. Tasks and extensions have methods of their own that no bridge carries."""

SERVER_CAPABILITIES: Final = ("tools", "resources", "prompts", "completions", "logging", "experimental")
"""What a server can offer in both eras."""

CACHED: Final = frozenset(
    {"tools/list", "prompts/list", "resources/list", "resources/templates/list", "resources/read", "server/discover"}
)
"""Methods whose results say since 2026-07-28 how long they may be kept."""

RESOURCE_NOT_FOUND: Final = -32002
INVALID_PARAMS: Final = -32602
INTERNAL: Final = -32603
URL_ELICITATION: Final = -32042

_STATED: Final = frozenset({META_VERSION, META_CAPABILITIES, META_CLIENT, META_LOG_LEVEL})
"""Members of `_meta` that every request of the stateless era has, and a session says once."""

_STAMPS: Final = frozenset({"resultType", "ttlMs", "cacheScope"})
_ROUND: Final = frozenset({"requestState", "inputResponses"})


def client_capabilities(declared: Mapping[str, JsonValue]) -> JsonObject:
    """What the upstream is told of a client: what it declared, less what the bridge cannot carry. Never more."""
    kept: JsonObject = {name: declared[name] for name in CLIENT_CAPABILITIES if isinstance(declared.get(name), dict)}
    if "roots" in kept:
        # The stateless era has no notice of changed roots, so nobody may be promised one.
        kept["roots"] = {name: value for name, value in kept["roots"].items() if name != "listChanged"}
    return kept


def server_capabilities(offered: JsonValue) -> JsonObject:
    """What the client is told of the upstream."""
    if not isinstance(offered, dict):
        return {}
    return {name: offered[name] for name in SERVER_CAPABILITIES if isinstance(offered.get(name), dict)}


def offers(capabilities: Mapping[str, JsonValue], method: str, params: JsonValue) -> bool:
    """Whether a client declared that it answers this very question: its kind, and the mode of it."""
    declared = capabilities.get(NEEDS.get(method, ""))
    if not isinstance(declared, dict):
        return False
    if method == "elicitation/create":
        mode = str(value_at(params, "mode") or "form") if isinstance(params, dict) else "form"
        return mode in declared or (mode == "form" and not declared.keys() & {"form", "url"})
    if method == "sampling/createMessage" and isinstance(params, dict) and ("tools" in params or "toolChoice" in params):
        return "tools" in declared
    return True


def asks(capabilities: Mapping[str, JsonValue]) -> bool:
    """Whether a client may be asked anything at all."""
    return any(name in capabilities for name in NEEDS.values())


# Requests.


def with_meta(raw: bytes, members: Mapping[str, bytes]) -> bytes:
    """A request with these members in its `_meta`, which need not be there yet."""
    params = slice_at(raw, ("params",)) or b"{}"
    given = slice_at(params, ("_meta",)) or b"{}"
    meta = dict(slice_members(given if given.startswith(b"{") else b"{}")) | dict(members)
    return replace_at(raw, ("params",), replace_at(params, ("_meta",), join_members(meta)))


def first_round(raw: bytes) -> bytes:
    """A request without answers and state of a round before it: a session has no rounds, so nobody vouches for them."""
    params = slice_members(slice_at(raw, ("params",)) or b"{}")
    if not params.keys() & _ROUND:
        return raw
    return replace_at(raw, ("params",), join_members({name: each for name, each in params.items() if name not in _ROUND}))


def with_params(raw: bytes, members: Mapping[str, bytes]) -> bytes:
    """A request with these members in its params."""
    params = dict(slice_members(slice_at(raw, ("params",)) or b"{}")) | dict(members)
    return replace_at(raw, ("params",), join_members(params))


def legacy_question(question: Question, number: str) -> Question:
    """A request of the stateless era as one of a session, under an id and a progress token of ours."""
    params = dict(slice_members(slice_at(question.raw, ("params",)) or b"{}"))
    meta = {name: raw for name, raw in slice_members(params.pop("_meta", b"{}")).items() if name not in _STATED}
    if TOKEN[-1] in meta:
        meta[TOKEN[-1]] = render(number)
    kept = {name: raw for name, raw in params.items() if name not in _ROUND}
    if meta:
        kept["_meta"] = join_members(meta)
    raw = replace_at(replace_at(question.raw, ID, render(number)), ("params",), join_members(kept))
    decoded = {name: value for name, value in question.params.items() if name not in _ROUND}
    if meta:
        given = decoded["_meta"] if isinstance(decoded.get("_meta"), dict) else {}
        decoded["_meta"] = {name: number if name == TOKEN[-1] else given.get(name) for name in meta}
    else:
        decoded.pop("_meta", None)
    return replace(question, id=number, params=decoded, raw=raw)


# Answers to a client of the stateless era.


def modern_answer(answer: Answer, question: Question, server: JsonValue) -> Answer:
    """The answer of a session, stamped as the stateless era wants it."""
    answer = replace(answer, raw=replace_at(answer.raw, ID, render(question.id)), status=None)
    if answer.result is None:
        return _with_modern_code(answer, question)
    stamps: JsonObject = {"resultType": "complete"}
    if question.method in CACHED:
        # A session says nothing about how long a result keeps, nor for whom it is.
        stamps |= {"ttlMs": 0, "cacheScope": "private"}
    members = dict(slice_members(slice_at(answer.raw, ("result",)) or b"{}"))
    members |= {name: render(value) for name, value in stamps.items()}
    own = members["_meta"] if isinstance(answer.result.get("_meta"), dict) else b"{}"
    members["_meta"] = replace_at(own, (META_SERVER,), render(server))
    raw = replace_at(answer.raw, ("result",), join_members(members))
    return replace(answer, raw=raw, result={**answer.result, **stamps})


def _with_modern_code(answer: Answer, question: Question) -> Answer:
    """2026-07-28 retired two codes: a missing resource is an invalid parameter, and a page to visit has no code at all."""
    error = answer.error or {}
    if error.get("code") == RESOURCE_NOT_FOUND:
        given = error.get("data")
        data = {**(given if isinstance(given, dict) else {}), "uri": question.params.get("uri")}
        return with_error(answer, question.id, {**error, "code": INVALID_PARAMS, "data": data})
    if error.get("code") == URL_ELICITATION:
        return with_error(answer, question.id, {**error, "code": INTERNAL})
    return answer


# Answers to a client of a session.


def legacy_answer(answer: Answer, question: Question) -> Answer:
    """The answer of a stateless upstream, without what a session does not know.

    `result` stays as the upstream gave it: that is what the contract is judged by, also where a client of the legacy era
    cannot be shown all of it.
    """
    answer = replace(answer, raw=replace_at(answer.raw, ID, render(question.id)), status=None)
    if answer.result is None:
        return _with_legacy_code(answer, question)
    members = {
        name: raw
        for name, raw in slice_members(slice_at(answer.raw, ("result",)) or b"{}").items()
        if name not in _STAMPS and not _is_foreign(name, answer.result)
    }
    if isinstance(answer.result.get("_meta"), dict):
        meta = {name: raw for name, raw in slice_members(members.pop("_meta")).items() if name != META_SERVER}
        members |= {"_meta": join_members(meta)} if meta else {}
    if question.method == "tools/list" and isinstance(answer.result.get("tools"), list):
        members["tools"] = _legacy_tools(members["tools"], answer.result["tools"])
    result = answer.result
    if result.get("isError") is True and _is_foreign("structuredContent", result):
        result = {name: value for name, value in result.items() if name != "structuredContent"}
    return replace(answer, raw=replace_at(answer.raw, ("result",), join_members(members)), result=result)


def _is_foreign(name: str, result: JsonObject) -> bool:
    """Structured content that is no object exists since 2026-07-28 only."""
    return name == "structuredContent" and not isinstance(result.get(name), dict)


def _legacy_tools(raw: bytes, tools: Sequence[JsonValue]) -> bytes:
    """Tools without output schemas that a session cannot have: there the root must be of type object."""
    items = zip(slice_items(raw), tools, strict=True)
    return b"[" + b",".join(_legacy_tool(item, tool) for item, tool in items) + b"]"


def _legacy_tool(raw: bytes, tool: JsonValue) -> bytes:
    if not isinstance(tool, dict) or "outputSchema" not in tool or value_at(tool, "outputSchema", "type") == "object":
        return raw
    return join_members({name: member for name, member in slice_members(raw).items() if name != "outputSchema"})


def _with_legacy_code(answer: Answer, question: Question) -> Answer:
    error = answer.error or {}
    missing = question.method == "resources/read" and error.get("code") == INVALID_PARAMS
    if not missing or value_at(error, "data", "uri") is None:
        return answer
    return with_error(answer, question.id, {**error, "code": RESOURCE_NOT_FOUND})


def with_error(answer: Answer, request_id: RequestId, error: JsonObject) -> Answer:
    """The same answer with another error object."""
    return replace(answer, raw=render_error(request_id, error), error=error)


def plain_result(question: Question, result: JsonObject) -> Answer:
    """An answer of the bridge itself."""
    return Answer(raw=render_result(question.id, render(result)), result=result)


def invalid(question: Question, parameter: str) -> Answer:
    """A refusal of the bridge itself."""
    error: JsonObject = {"code": INVALID_PARAMS, "message": f"Invalid parameter: {parameter}"}
    return Answer(raw=render_error(question.id, error), error=error)

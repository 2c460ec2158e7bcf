"""Translates between the eras: capabilities, requests, results, errors. Pure.

Bytes that mean the same in both eras are kept. Only what one era has and the other lacks is added or removed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec.structs import replace

from strictwire.canon.json import JsonObject, JsonValue, join_members, render, slice_items, slice_members
from strictwire.gateway.links.link import UpstreamRequest
from strictwire.gateway.links.raw_message import (
    ID,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    PROGRESS_TOKEN,
    UpstreamAnswer,
    replace_at,
    slice_at,
    value_at,
)
from strictwire.profiles.mcp.answers import NEEDS
from strictwire.wire.envelope import render_error, render_result
from strictwire.wire.names import META_CAPABILITIES, META_CLIENT, META_LOG_LEVEL, META_SERVER, META_VERSION

CLIENT_CAPABILITIES: Final = ("roots", "sampling", "elicitation", "experimental")
"""What a client can offer in both eras. Tasks and extensions have methods of their own, which no bridge carries."""

SERVER_CAPABILITIES: Final = ("tools", "resources", "prompts", "completions", "logging", "experimental")
"""What a server can offer in both eras."""

CACHED: Final = frozenset(
    {"tools/list", "prompts/list", "resources/list", "resources/templates/list", "resources/read", "server/discover"}
)
"""Methods whose results have cache hints since 2026-07-28."""

RESOURCE_NOT_FOUND: Final = -32002
URL_ELICITATION: Final = -32042

_PROGRESS: Final = PROGRESS_TOKEN[-1]
_STATED: Final = frozenset({META_VERSION, META_CAPABILITIES, META_CLIENT, META_LOG_LEVEL})
"""Members of `_meta` that every request of the stateless era has. A session sends them once, in `initialize`."""

_STAMPS: Final = frozenset({"resultType", "ttlMs", "cacheScope"})
"""Members of a result that exist since 2026-07-28."""

_ROUND: Final = frozenset({"requestState", "inputResponses"})
"""Members of params that answer the questions of an earlier round."""


def client_capabilities(declared: Mapping[str, JsonValue]) -> JsonObject:
    """The capabilities that the bridge declares to the upstream: those of the client that it can translate."""
    kept: JsonObject = {name: declared[name] for name in CLIENT_CAPABILITIES if isinstance(declared.get(name), dict)}
    if "roots" in kept:
        # The stateless era has no notification of changed roots.
        kept["roots"] = {name: value for name, value in kept["roots"].items() if name != "listChanged"}
    return kept


def server_capabilities(offered: JsonValue) -> JsonObject:
    """The capabilities that the bridge declares to the client."""
    if not isinstance(offered, dict):
        return {}
    return {name: offered[name] for name in SERVER_CAPABILITIES if isinstance(offered.get(name), dict)}


def can_answer(capabilities: Mapping[str, JsonValue], method: str, params: JsonValue) -> bool:
    """Whether a client declared that it answers this kind of question, in this mode."""
    declared = capabilities.get(NEEDS.get(method, ""))
    if not isinstance(declared, dict):
        return False
    given = params if isinstance(params, dict) else {}
    if method == "elicitation/create":
        mode = str(given.get("mode") or "form")
        return mode in declared or (mode == "form" and not declared.keys() & {"form", "url"})
    if method == "sampling/createMessage" and ("tools" in given or "toolChoice" in given):
        return "tools" in declared
    return True


# Requests.


def with_params(raw: bytes, members: Mapping[str, bytes]) -> bytes:
    """A request with these members in its params."""
    params = dict(slice_members(slice_at(raw, ("params",)) or b"{}")) | dict(members)
    return replace_at(raw, ("params",), join_members(params))


def with_meta(raw: bytes, members: Mapping[str, bytes]) -> bytes:
    """A request with these members in its `_meta`, which need not exist yet."""
    given = slice_at(raw, ("params", "_meta")) or b"{}"
    meta = dict(slice_members(given if given.startswith(b"{") else b"{}")) | dict(members)
    return with_params(raw, {"_meta": join_members(meta)})


def without_round(raw: bytes) -> bytes:
    """A request without the answers and the state of an earlier round. Sessions have no rounds, so they are not checked."""
    params = slice_members(slice_at(raw, ("params",)) or b"{}")
    if not params.keys() & _ROUND:
        return raw
    return replace_at(raw, ("params",), join_members({name: each for name, each in params.items() if name not in _ROUND}))


def to_legacy_request(request: UpstreamRequest, number: str) -> UpstreamRequest:
    """A request of the stateless era as one of a session, under an id and a progress token of the guard."""
    params = dict(slice_members(slice_at(request.raw, ("params",)) or b"{}"))
    meta = {name: raw for name, raw in slice_members(params.pop("_meta", b"{}")).items() if name not in _STATED}
    if _PROGRESS in meta:
        meta[_PROGRESS] = render(number)
    kept = {name: raw for name, raw in params.items() if name not in _ROUND}
    decoded = {name: value for name, value in request.params.items() if name not in _ROUND and name != "_meta"}
    if meta:
        given = request.params.get("_meta")
        values = given if isinstance(given, dict) else {}
        kept["_meta"] = join_members(meta)
        decoded["_meta"] = {name: number if name == _PROGRESS else values.get(name) for name in meta}
    raw = replace_at(replace_at(request.raw, ID, render(number)), ("params",), join_members(kept))
    return replace(request, id=number, params=decoded, raw=raw)


# Answers to a client of the stateless era.


def to_modern_answer(answer: UpstreamAnswer, request: UpstreamRequest, server: JsonValue) -> UpstreamAnswer:
    """The answer of a session, with what the stateless era adds to every result. `server` is the upstream's identity."""
    answer = replace(answer, raw=replace_at(answer.raw, ID, render(request.id)), status=None)
    if answer.result is None:
        return _with_modern_code(answer, request)
    stamps: JsonObject = {"resultType": "complete"}
    if request.method in CACHED:
        # Sessions have no cache hints.
        stamps |= {"ttlMs": 0, "cacheScope": "private"}
    members = dict(slice_members(slice_at(answer.raw, ("result",)) or b"{}"))
    members |= {name: render(value) for name, value in stamps.items()}
    own = members["_meta"] if isinstance(answer.result.get("_meta"), dict) else b"{}"
    members["_meta"] = replace_at(own, (META_SERVER,), render(server))
    raw = replace_at(answer.raw, ("result",), join_members(members))
    return replace(answer, raw=raw, result={**answer.result, **stamps})


def _with_modern_code(answer: UpstreamAnswer, request: UpstreamRequest) -> UpstreamAnswer:
    """2026-07-28 retired two codes: a missing resource is an invalid parameter, and a URL elicitation has no code."""
    error = answer.error or {}
    if error.get("code") == RESOURCE_NOT_FOUND:
        given = error.get("data")
        data = {**(given if isinstance(given, dict) else {}), "uri": request.params.get("uri")}
        return _with_error(answer, request, {**error, "code": INVALID_PARAMS, "data": data})
    if error.get("code") == URL_ELICITATION:
        return _with_error(answer, request, {**error, "code": INTERNAL_ERROR})
    return answer


# Answers to a client of a session.


def to_legacy_answer(answer: UpstreamAnswer, request: UpstreamRequest) -> UpstreamAnswer:
    """The answer of a stateless upstream, without what sessions do not have.

    `result` stays as the upstream gave it: the contract is checked against the whole of it, although a client of the legacy
    era does not get all of it.
    """
    answer = replace(answer, raw=replace_at(answer.raw, ID, render(request.id)), status=None)
    result = answer.result
    if result is None:
        return _with_legacy_code(answer, request)
    # Structured content that is not an object exists since 2026-07-28.
    dropped = _STAMPS if isinstance(result.get("structuredContent"), dict) else _STAMPS | {"structuredContent"}
    sliced = slice_members(slice_at(answer.raw, ("result",)) or b"{}")
    members = {name: raw for name, raw in sliced.items() if name not in dropped}
    if isinstance(result.get("_meta"), dict):
        meta = {name: raw for name, raw in slice_members(members.pop("_meta")).items() if name != META_SERVER}
        members |= {"_meta": join_members(meta)} if meta else {}
    if request.method == "tools/list" and isinstance(result.get("tools"), list):
        items = zip(slice_items(members["tools"]), result["tools"], strict=True)
        members["tools"] = b"[" + b",".join(_to_legacy_tool(item, tool) for item, tool in items) + b"]"
    if result.get("isError") is True and "structuredContent" in dropped:
        result = {name: value for name, value in result.items() if name != "structuredContent"}
    return replace(answer, raw=replace_at(answer.raw, ("result",), join_members(members)), result=result)


def _to_legacy_tool(raw: bytes, tool: JsonValue) -> bytes:
    """A tool without an output schema that sessions cannot have: there its root must be of type object."""
    if not isinstance(tool, dict) or "outputSchema" not in tool or value_at(tool, "outputSchema", "type") == "object":
        return raw
    return join_members({name: member for name, member in slice_members(raw).items() if name != "outputSchema"})


def _with_legacy_code(answer: UpstreamAnswer, request: UpstreamRequest) -> UpstreamAnswer:
    error = answer.error or {}
    missing = request.method == "resources/read" and error.get("code") == INVALID_PARAMS
    if not missing or value_at(error, "data", "uri") is None:
        return answer
    return _with_error(answer, request, {**error, "code": RESOURCE_NOT_FOUND})


def _with_error(answer: UpstreamAnswer, request: UpstreamRequest, error: JsonObject) -> UpstreamAnswer:
    return replace(answer, raw=render_error(request.id, error), error=error)


# Answers of the bridge itself.


def own_result(request: UpstreamRequest, result: JsonObject) -> UpstreamAnswer:
    """A result of the bridge itself."""
    return UpstreamAnswer(raw=render_result(request.id, render(result)), result=result)


def invalid_param(request: UpstreamRequest, parameter: str) -> UpstreamAnswer:
    """A refusal of the bridge itself."""
    error: JsonObject = {"code": INVALID_PARAMS, "message": f"Invalid parameter: {parameter}"}
    return UpstreamAnswer(raw=render_error(request.id, error), error=error)

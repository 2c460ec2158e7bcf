"""Parses the JSON of any dialect back into a Failure, for clients. Clients act on the code, never on the text.

    Unreadable   the payload is not a failure in any dialect (a ValueError)

Fields that a dialect does not carry get the defaults of the catalogue; `losses` lists them. Rendering the failure again in
the same dialect gives the same JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from msgspec.structs import replace

from strictwire.canon.json import JsonObject, JsonValue, NotStrict, parse_object
from strictwire.fault.catalogue import CATALOGUE, RENDERINGS
from strictwire.fault.dialects.canonical import CANONICAL_CODES, CanonicalError
from strictwire.fault.dialects.editor_v01 import KINDS
from strictwire.fault.dialects.index import PROTOCOL
from strictwire.fault.dialects.mcp import HOISTED
from strictwire.fault.failure import EPOCH, Facts, Failure, fail
from strictwire.fault.plain import plain, plain_text
from strictwire.fault.raised import CODE
from strictwire.fault.spellings import NATIVE
from strictwire.fault.violations import Violation


class Unreadable(ValueError):
    """The payload is not a failure of a known dialect. `reason` says why and contains nothing of the payload."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The failure in a payload, and the facts of its call."""

    failure: Failure
    facts: Facts


def read_failure(payload: bytes | Mapping[str, JsonValue]) -> Failure:
    """Read the failure from a dialect's JSON, a JSON-RPC error response or a tool result. Raises Unreadable."""
    return read(payload).failure


def read(payload: bytes | Mapping[str, JsonValue]) -> Reading:
    """Read the failure and the facts of its call. Raises Unreadable."""
    body = _unwrap(_parse(payload) if isinstance(payload, bytes) else dict(payload))
    for matches, reader in _FORMS:
        if matches(body):
            return reader(body)
    raise Unreadable("the payload has the form of no dialect")


def _parse(raw: bytes) -> JsonObject:
    try:
        return parse_object(raw)
    except NotStrict as exc:
        raise Unreadable(str(exc)) from exc


def _unwrap(body: JsonObject) -> JsonObject:
    """The error object inside a JSON-RPC response or a tool result."""
    result = body.get("result")
    if isinstance(result, dict):
        body = result
    if "isError" in body:
        return _from_result(body)
    error = body.get("error")
    return error if isinstance(error, dict) and _is_number(error.get("code")) else body


def _from_result(result: JsonObject) -> JsonObject:
    """The envelope in a tool result: the structured content, else the text as JSON, else a failure with that text."""
    if result["isError"] is not True:
        raise Unreadable("the result is a success")
    envelope = result.get("structuredContent")
    if isinstance(envelope, dict):
        return envelope
    content = result.get("content")
    items = content if isinstance(content, list) else []
    texts = [item["text"] for item in items if isinstance(item, dict) and isinstance(item.get("text"), str)]
    try:
        return parse_object(texts[0].encode("utf-8", "replace")) if texts else _tool_failed("")
    except NotStrict:
        return _tool_failed(texts[0])


def _tool_failed(text: str) -> JsonObject:
    """The envelope for a server without a dialect: the tool failed, with the server's own text."""
    return {"error": {"code": "TOOL_FAILED", "message": text}}


def _is_number(value: JsonValue) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _text(value: JsonValue) -> str | None:
    return plain_text(value) if isinstance(value, str) else None


def _object(value: JsonValue) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _native(dialect: str, spelling: JsonValue) -> str:
    code = NATIVE[dialect].get(spelling) if isinstance(spelling, str | int) else None
    if code is None:
        raise Unreadable(f"{dialect} has no such code")
    return code


def _with_retry(failure: Failure, retryable: JsonValue) -> Failure:
    return replace(failure, retryable=retryable) if isinstance(retryable, bool) else failure


def _read_system(body: JsonObject) -> Reading:
    texts = {name: value for name, value in body.items() if isinstance(value, str)}
    failure = fail(
        _native("system/1.0", body["error_code"]),
        text=_text(body.get("human_message")),
        invariant_id=texts.get("invariant_id"),
        cause=plain(body.get("cause")),
    )
    facts = Facts(
        tool=texts.get("tool_name", ""),
        timestamp=texts.get("timestamp", EPOCH),
        role=texts.get("role"),
        session_id=texts.get("session_id"),
        workspace_root=texts.get("workspace_root"),
        phase_id=texts.get("phase_id"),
        plan_hash=texts.get("plan_hash"),
        stack_trace=texts.get("stack_trace"),
    )
    return Reading(failure=failure, facts=facts)


def _read_problem(body: JsonObject) -> Reading:
    failure = _fail(body["code"], text=_text(body.get("detail")), details=_object(body.get("details")))
    return Reading(failure=_with_retry(failure, body.get("retryable")), facts=Facts())


def _read_envelope(body: JsonObject) -> Reading:
    """`{"error": {"code": "..."}}`: resolve/v0 has lower-case codes, mcp upper-case ones."""
    error = body["error"]
    if error["code"] in NATIVE["resolve/v0"]:
        return Reading(failure=fail(_native("resolve/v0", error["code"])), facts=Facts())
    failure = _fail(
        error["code"],
        text=_text(error.get("message")),
        details=_object(error.get("details")),
        invariant_id=_text(error.get("invariantId")),
    )
    return Reading(failure=_with_advice(failure, error), facts=Facts())


def _with_advice(failure: Failure, error: JsonObject) -> Failure:
    """The failure with the action and the retry advice of its author, if these differ from the catalogue."""
    action = _text(error.get("action"))
    if action != CATALOGUE[failure.code].action:
        failure = replace(failure, action=action)
    return _with_retry(failure, error.get("retryable"))


def _fail(code: JsonValue, *, kind: str = "TOOL_FAILED", **fields: Any) -> Failure:
    """A failure with a code of the catalogue or of an author, whose kind is that of the catalogue. Raises Unreadable."""
    if isinstance(code, str) and CODE.fullmatch(code):
        name = code.rpartition("/")[2]
        return replace(fail(name if name in CATALOGUE else kind, **fields), own_code=code)
    return fail(_catalogued(code), **fields)


def _catalogued(code: JsonValue) -> str:
    """The catalogue code, without a namespace before it. Raises Unreadable."""
    name = code.rpartition("/")[2] if isinstance(code, str) else ""
    if name not in CATALOGUE:
        raise Unreadable("the code is not in the catalogue")
    return name


def _read_rpc(error: JsonObject) -> Reading:
    """A JSON-RPC error object; its `data` tells the dialect."""
    data = _object(error.get("data"))
    if "errorType" in data:
        return _read_editor(error, data)
    if isinstance(data.get("code"), str):
        is_v1 = not data.keys().isdisjoint(("issues", "message", "tool"))
        return _read_mcp_v1(data) if is_v1 else _read_protocol(error, data)
    return _read_bare(error, data)


def _read_editor(error: JsonObject, data: JsonObject) -> Reading:
    details = _object(data.get("details"))
    number = error["code"]
    if number not in KINDS:
        raise Unreadable("editor/0.1 has no such code with data")
    code = KINDS[number].code
    if code == "INVALID_PARAMS":
        details = {"violations": [each.as_details() for each in _editor_violations(details)]}
    if code == "TOOL_FAILED" and _leads_with_a_code(details):
        code = details["code"]
        details = {name: value for name, value in details.items() if name != "code"}
    tool = data.get("tool")
    failure = _fail(code, text=_text(error.get("message")), details=details)
    return Reading(failure=failure, facts=Facts(tool=tool if isinstance(tool, str) else ""))


def _leads_with_a_code(details: JsonObject) -> bool:
    """Whether the first detail is a catalogue code, as `editor/0.1` renders codes that it has no number for."""
    code = details.get("code") if next(iter(details), None) == "code" else None
    if isinstance(code, str) and CODE.fullmatch(code):
        return True
    row = RENDERINGS.get(code) if isinstance(code, str) and code != "TOOL_FAILED" else None
    return row is not None and NATIVE["editor/0.1"][row.editor] == "TOOL_FAILED"


def _editor_violations(details: JsonObject) -> list[Violation]:
    missing, mismatches, constraints = (
        listed if isinstance(listed := details.get(name), list) else []
        for name in ("missingParameters", "typeMismatches", "constraintViolations")
    )
    return [
        *(Violation(path=f"/{name}", keyword="required") for name in missing if isinstance(name, str)),
        *(_editor_violation(each, "type") for each in mismatches if isinstance(each, dict)),
        *(_editor_violation(each, each.get("keyword")) for each in constraints if isinstance(each, dict)),
    ]


def _editor_violation(fields: JsonObject, keyword: JsonValue) -> Violation:
    words = {name: value for name, value in fields.items() if isinstance(value, str)}
    return Violation(
        path=f"/{words.get('parameter', '')}",
        keyword=keyword if isinstance(keyword, str) else "unknown",
        expected=words.get("expected", ""),
        actual=words.get("actual", ""),
    )


def _read_mcp_v1(data: JsonObject) -> Reading:
    issues = data.get("issues")
    details: JsonObject = {"violations": issues} if isinstance(issues, list) else {}
    tool = data.get("tool")
    failure = fail(_catalogued(data["code"]), text=_text(data.get("message")), details=details)
    return Reading(failure=failure, facts=Facts(tool=tool if isinstance(tool, str) else ""))


def _read_protocol(error: JsonObject, data: JsonObject) -> Reading:
    # Of the kinds that an author can give a code of its own, only this one has another number than TOOL_FAILED.
    kind = "NOT_FOUND" if error["code"] == RENDERINGS["NOT_FOUND"].rpc else "TOOL_FAILED"
    failure = _fail(data["code"], kind=kind, text=_text(error.get("message")))
    hoisted = {name: data[name] for name in HOISTED.get(failure.code, ()) if name in data}
    failure = replace(failure, details=hoisted | _object(data.get("details")))
    return Reading(failure=_with_advice(failure, data), facts=Facts())


_CANONICAL: Final = {
    (error["code"], error["message"]): name for name in CANONICAL_CODES for error in (CanonicalError.to_jsonrpc_error(name),)
}
"""The four `canonical` errors have no data, so number and message identify them."""


def _read_bare(error: JsonObject, data: JsonObject) -> Reading:
    """A number and a message: from `canonical`, a standard JSON-RPC code, or another server."""
    number, message = error["code"], error.get("message")
    if isinstance(message, str) and (number, message) in _CANONICAL:
        return Reading(failure=fail(_native("canonical", _CANONICAL[number, message])), facts=Facts())
    known = NATIVE[PROTOCOL].get(number) or NATIVE["editor/0.1"].get(number)
    code = "RESOURCE_NOT_FOUND" if number == -32602 and "uri" in data else known
    if code is None:
        raise Unreadable("no dialect has this number")
    return Reading(failure=fail(code, text=_text(message), details=data), facts=Facts())


def _is_envelope(body: JsonObject) -> bool:
    return isinstance(_object(body.get("error")).get("code"), str)


_FORMS: Final[tuple[tuple[Callable[[JsonObject], bool], Callable[[JsonObject], Reading]], ...]] = (
    (lambda body: isinstance(body.get("error_code"), str), _read_system),
    (_is_envelope, _read_envelope),
    (lambda body: _is_number(body.get("code")), _read_rpc),
    (lambda body: isinstance(body.get("code"), str) and "status" in body, _read_problem),
)
"""The forms of a body and their readers; the first match wins."""

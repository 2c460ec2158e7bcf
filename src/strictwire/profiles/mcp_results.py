"""How outcomes are written over MCP: results by revision, and failures through their dialect."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import msgspec

from strictwire.canon.json import JsonObject, JsonValue, quote, render
from strictwire.contract.tool import ToolContract
from strictwire.fault.dialects import http as http_dialect
from strictwire.fault.dialects import mcp as mcp_dialect
from strictwire.fault.failure import Facts, Failure
from strictwire.native import speed
from strictwire.pipeline.call import Done, Operation
from strictwire.wire.envelope import RequestId, render_error, render_result
from strictwire.wire.revisions import Revision

PROTOCOL_CODES: Final = frozenset(
    {"UNKNOWN_TOOL", "MISSING_CAPABILITY", "MALFORMED_PARAMS", "STATE_REJECTED", "METHOD_NOT_FOUND"}
)
"""Failures of a tool call that are errors of the protocol and not results of the tool."""

MAX_NAMES: Final = 12
"""Member names in a summary: enough to see what came, short enough not to cost tokens."""


class Written(msgspec.Struct, frozen=True, kw_only=True):
    """An answer as bytes, with the HTTP status it has where there is HTTP."""

    body: bytes
    status: int = 200
    envelope: JsonValue = None
    """The failure inside, for the audit record; None for a success."""


def write_failure(request_id: RequestId | None, failure: Failure, facts: Facts) -> Written:
    """A protocol error."""
    error = mcp_dialect.render_error(failure, facts)
    status = http_dialect.rpc_status_of(failure, facts)
    return Written(body=render_error(request_id, error), status=status, envelope=error)


def write_tool_failure(
    request_id: RequestId, failure: Failure, facts: Facts, revision: Revision, operation: Operation | None, tail: bytes
) -> Written:
    """A failure of a tool: a result with `isError`, or what its dialect says instead."""
    if failure.code in PROTOCOL_CODES or operation is None:
        return write_failure(request_id, failure, facts)
    answer = mcp_dialect.answer_tool_failure(failure, facts, operation.dialect)
    if answer.error is not None:
        return Written(body=render_error(request_id, answer.error), envelope=answer.error)
    result = dict(answer.result or {})
    envelope = result.get("structuredContent")
    # Before 2026-07-28 structured content is bound by the output schema even in a failure, and the official TypeScript
    # client of that era throws the whole result away if it differs; the text item carries the envelope there.
    if not revision.structured or (operation.promises is not None and not revision.modern):
        result.pop("structuredContent", None)
    return Written(body=render_result(request_id, render(result)[:-1] + tail), envelope=envelope)


def write_tool_result(done: Done, operation: Operation, revision: Revision, tail: bytes) -> bytes:
    """The result of tools/call. `tail` closes the object with what the revision stamps on every result."""
    structured = done.structured and revision.structured and (revision.modern or isinstance(done.value, dict))
    items = [_fit(item, revision) for item in done.content] or _text_items(done, operation, shown=structured)
    parts = [b'{"content":', render(items)]
    if structured:
        parts += [b',"structuredContent":', done.raw]
    if done.meta:
        tail = _merge_meta(done.meta, tail)
    return b"".join((*parts, tail))


def word_result_in_python(request_id: bytes, raw: bytes, tail: bytes) -> bytes:
    """The answer to a call that gave JSON, as text and as itself, given its id as it is written."""
    return b'{"jsonrpc":"2.0","id":%b,"result":{"content":[{"type":"text","text":%b}],"structuredContent":%b%b}' % (
        request_id,
        quote(raw),
        raw,
        tail,
    )


word_result: Final[Callable[[bytes, bytes, bytes], bytes]] = getattr(speed, "word_result", word_result_in_python)
"""`word_result_in_python`, by whoever is faster."""


def _text_items(done: Done, operation: Operation, *, shown: bool) -> list[JsonObject]:
    if not done.structured:
        return []
    contract = operation.contract
    wants_json = not shown or (isinstance(contract, ToolContract) and contract.text_json)
    text = done.raw.decode() if wants_json or contract is None else summarise(done.value)
    return [{"type": "text", "text": text}]


def summarise(value: JsonValue) -> str:
    """A short text derived from structured content alone (G14): its own summary, or the names of its members."""
    if isinstance(value, dict):
        own = value.get("summary")
        if isinstance(own, str):
            return own
        names = sorted(value)
        more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
        return f"Structured result: {', '.join(names[:MAX_NAMES]) or 'empty'}{more}."
    if isinstance(value, list):
        return f"Structured result: {len(value)} items."
    return "Structured result."


def _fit(item: JsonObject, revision: Revision) -> JsonObject:
    """Content kinds that a revision does not know are named in text instead of sent."""
    kind = item.get("type")
    if (kind == "audio" and not revision.audio) or (kind == "resource_link" and not revision.structured):
        return {"type": "text", "text": f"[{kind} {item.get('uri') or item.get('mimeType')}]"}
    return item


def _merge_meta(meta: Mapping[str, JsonValue], tail: bytes) -> bytes:
    """Put a result's own `_meta` members beside those of the stamp."""
    own = render(dict(meta))
    if b'"_meta":{' in tail:
        return tail.replace(b'"_meta":{', b'"_meta":%b,' % own[:-1], 1)
    return b',"_meta":%b%b' % (own, tail)

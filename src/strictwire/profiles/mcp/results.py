"""How outcomes are written over MCP: results by revision, and failures through their dialect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec.structs import replace

from strictwire.canon.json import JsonObject, JsonValue, render
from strictwire.contract.tool import ToolContract
from strictwire.fault.dialects import http as http_dialect
from strictwire.fault.dialects import mcp as mcp_dialect
from strictwire.fault.failure import Facts, Failure
from strictwire.pipeline.call import Done
from strictwire.pipeline.compiled import CompiledTool
from strictwire.profiles.endpoint import Reply
from strictwire.wire.envelope import RequestId, render_error, render_result
from strictwire.wire.names import META_SERVER
from strictwire.wire.revisions import Revision

PROTOCOL_CODES: Final = frozenset(
    {"UNKNOWN_TOOL", "MISSING_CAPABILITY", "MALFORMED_PARAMS", "STATE_REJECTED", "METHOD_NOT_FOUND"}
)
"""Failures of a tool call that are protocol errors and not results of the tool."""

MAX_NAMES: Final = 12
"""Member names in a summary: enough to see what is there, short enough not to cost tokens."""


def write_failure(request_id: RequestId | None, failure: Failure, facts: Facts) -> Reply:
    """A protocol error."""
    error = mcp_dialect.render_error(failure, facts)
    status = http_dialect.rpc_status_of(failure, facts)
    return Reply(body=render_error(request_id, error), status=status, envelope=error)


def write_resource_failure(request_id: RequestId, failure: Failure, facts: Facts, uri: JsonValue) -> Reply:
    """A failure of resources/read. What its function does not find is as unknown as a URI that no function serves."""
    if failure.code == "NOT_FOUND":
        details = {"uri": uri, **failure.details}
        failure = replace(failure, code="RESOURCE_NOT_FOUND", details=details)
    return write_failure(request_id, failure, facts)


def write_tool_failure(
    request_id: RequestId, failure: Failure, facts: Facts, revision: Revision, tool: CompiledTool | None, tail: bytes
) -> Reply:
    """A failure of a tool: a result with `isError`, or the error that its dialect gives instead."""
    if failure.code in PROTOCOL_CODES or tool is None:
        return write_failure(request_id, failure, facts)
    answer = mcp_dialect.answer_tool_failure(failure, facts, tool.dialect)
    if answer.error is not None:
        return Reply(body=render_error(request_id, answer.error), envelope=answer.error)
    result = dict(answer.result or {})
    envelope = result.get("structuredContent")
    # Before 2026-07-28 structured content is bound by the output schema even in a failure, and the official TypeScript
    # client of that era discards the whole result if it differs; the text item carries the envelope there.
    if not revision.structured or (tool.output is not None and not revision.modern):
        result.pop("structuredContent", None)
    return Reply(body=render_result(request_id, render(result)[:-1] + tail), envelope=envelope)


def write_tool_result(request_id: RequestId, done: Done, tool: CompiledTool, revision: Revision, tail: bytes) -> bytes:
    """The answer of tools/call. `tail` closes the result with what the revision stamps on every one."""
    structured = done.structured and revision.structured and (revision.modern or isinstance(done.value, dict))
    if done.content:
        content = render([_fit(item, revision) for item in done.content])
    elif done.structured:
        # The content itself, where the contract asks for it or the revision has no other place for it; otherwise a summary.
        contract = tool.contract
        in_full = not structured or not isinstance(contract, ToolContract) or contract.text_json
        text = done.raw.decode() if in_full else summarise(done.value)
        content = b'[{"type":"text","text":%b}]' % render(text)
    else:
        content = b"[]"
    if structured:
        content += b',"structuredContent":' + done.raw
    if done.meta:
        tail = _merge_meta(done.meta, tail)
    return b'{"jsonrpc":"2.0","id":%b,"result":{"content":%b%b}' % (render(request_id), content, tail)


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
    """Put a result's own `_meta` members beside those of the stamp, which a result cannot replace."""
    own = render({name: value for name, value in meta.items() if name != META_SERVER})
    if own != b"{}" and b'"_meta":{' in tail:
        return tail.replace(b'"_meta":{', b'"_meta":%b,' % own[:-1], 1)
    return tail if own == b"{}" else b',"_meta":%b%b' % (own, tail)

"""An upstream's answer as a client sees it: error texts masked, hidden tools removed, the HTTP status. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from msgspec.structs import replace

from strictwire.canon.json import JsonObject, JsonValue, render, slice_items
from strictwire.gateway.links.link import UpstreamAnswer
from strictwire.gateway.links.raw_message import replace_at, slice_at
from strictwire.gateway.masking import Masker, mask_addresses
from strictwire.wire.revisions import Revision

_STATUS: Final[Mapping[int, int]] = MappingProxyType(
    {-32601: 404, **dict.fromkeys((-32700, -32600, -32602, -32020, -32021, -32022), 400)}
)
"""HTTP statuses of relayed errors in the stateless era, for upstreams over stdio, which have no status of their own."""

_TOOLS: Final = ("result", "tools")
_CACHE_SCOPE: Final = ("result", "cacheScope")


def relayed_status(answer: UpstreamAnswer, revision: Revision) -> int:
    """The HTTP status of a relayed error."""
    if answer.error is None or not revision.modern:
        return 200
    known = answer.status if answer.status is not None and 400 <= answer.status < 500 else None
    return known or _STATUS.get(answer.error["code"], 200)


def mask_error(answer: UpstreamAnswer, given: JsonValue) -> UpstreamAnswer:
    """The answer with the texts of its error masked; code and structure stay. `given` is what the client sent."""
    if answer.error is None:
        return answer
    texts: JsonObject = {name: answer.error[name] for name in ("message", "data") if name in answer.error}
    masked = Masker(render(given).decode()).mask(texts)
    if masked == texts or not isinstance(masked, dict):
        return answer
    error = {**answer.error, **masked}
    return UpstreamAnswer(raw=replace_at(answer.raw, ("error",), render(error)), error=error, status=answer.status)


def mask_result(raw: bytes, result: JsonObject, given: JsonValue) -> bytes:
    """The raw answer with object addresses masked and, if it is a tool's error, the texts of its content."""
    raw = mask_addresses(raw)
    if result.get("isError") is not True:
        return raw
    masker = Masker(render(given).decode())
    content = masker.mask_content(result.get("content"))
    if content != result.get("content"):
        raw = replace_at(raw, ("result", "content"), render(content))
    structured = result.get("structuredContent")
    masked = masker.mask(structured)
    return raw if masked == structured else replace_at(raw, ("result", "structuredContent"), render(masked))


def without_tools(answer: UpstreamAnswer, is_hidden: Callable[[JsonObject], bool]) -> UpstreamAnswer:
    """A `tools/list` answer without some of its tools; the others keep their bytes."""
    tools = (answer.result or {}).get("tools")
    if not isinstance(tools, list):
        return answer
    hidden = [isinstance(each, dict) and is_hidden(each) for each in tools]
    if not any(hidden):
        return answer
    items = slice_items(slice_at(answer.raw, _TOOLS) or b"[]")
    kept = [item for item, hide in zip(items, hidden, strict=True) if not hide]
    result = {**(answer.result or {}), "tools": [each for each, hide in zip(tools, hidden, strict=True) if not hide]}
    return replace(answer, raw=replace_at(answer.raw, _TOOLS, b"[" + b",".join(kept) + b"]"), result=result)


def with_scope(answer: UpstreamAnswer, scope: str) -> UpstreamAnswer:
    """The answer with another `cacheScope`, if it has one."""
    if answer.result is None or answer.result.get("cacheScope") in (None, scope):
        return answer
    result = {**answer.result, "cacheScope": scope}
    return replace(answer, raw=replace_at(answer.raw, _CACHE_SCOPE, render(scope)), result=result)

"""An upstream's answer as a client sees it: texts of errors masked, the HTTP status, the scope of a list. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from strictwire.canon.json import JsonObject, JsonValue, render, slice_items
from strictwire.gateway.links.link import Answer
from strictwire.gateway.links.raw_message import LISTED, SCOPE, replace_at, slice_at
from strictwire.gateway.masking import Masker, mask_addresses
from strictwire.wire.revisions import Revision

_STATUS: Final[Mapping[int, int]] = MappingProxyType(
    {-32601: 404, **dict.fromkeys((-32700, -32600, -32602, -32020, -32021, -32022), 400)}
)
"""HTTP statuses of relayed errors in the stateless era, where the upstream has none of its own."""


def relayed_status(answer: Answer, revision: Revision) -> int:
    """The HTTP status of a relayed error."""
    if answer.error is None or not revision.modern:
        return 200
    known = answer.status if answer.status is not None and 400 <= answer.status < 500 else None
    return known or _STATUS.get(answer.error["code"], 200)


def mask_error(answer: Answer, given: JsonValue) -> Answer:
    """An error without what no client should see; code and the rest of its shape stay as they came."""
    if answer.error is None:
        return answer
    said: JsonObject = {name: answer.error[name] for name in ("message", "data") if name in answer.error}
    shown = Masker(render(given).decode()).mask(said)
    if shown == said or not isinstance(shown, dict):
        return answer
    error = {**answer.error, **shown}
    return Answer(raw=replace_at(answer.raw, ("error",), render(error)), error=error, status=answer.status)


def mask_result(raw: bytes, result: JsonObject, given: JsonValue) -> bytes:
    """A tool's own error is a result; its texts are error texts all the same."""
    raw = mask_addresses(raw)
    if result.get("isError") is not True:
        return raw
    masker = Masker(render(given).decode())
    shown = masker.mask_content(result.get("content"))
    if shown != result.get("content"):
        raw = replace_at(raw, ("result", "content"), render(shown))
    structured = result.get("structuredContent")
    masked = masker.mask(structured)
    return raw if masked == structured else replace_at(raw, ("result", "structuredContent"), render(masked))


def without_tools(answer: Answer, is_hidden: Callable[[JsonObject], bool]) -> Answer:
    """A `tools/list` answer without some of its tools; the bytes of the others are as they came."""
    tools = (answer.result or {}).get("tools")
    if not isinstance(tools, list):
        return answer
    hidden = [isinstance(each, dict) and is_hidden(each) for each in tools]
    if not any(hidden):
        return answer
    items = slice_items(slice_at(answer.raw, LISTED) or b"[]")
    kept = [item for item, hide in zip(items, hidden, strict=True) if not hide]
    result = {**(answer.result or {}), "tools": [each for each, hide in zip(tools, hidden, strict=True) if not hide]}
    return replace(answer, raw=replace_at(answer.raw, LISTED, b"[" + b",".join(kept) + b"]"), result=result)


def with_scope(answer: Answer, scope: str) -> Answer:
    """The answer with another `cacheScope`, where it has one."""
    if answer.result is None or answer.result.get("cacheScope") in (None, scope):
        return answer
    result = {**answer.result, "cacheScope": scope}
    return replace(answer, raw=replace_at(answer.raw, SCOPE, render(scope)), result=result)

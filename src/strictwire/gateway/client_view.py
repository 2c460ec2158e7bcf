"""An upstream's answer as a client sees it: masked texts, hidden entries removed, the HTTP status. Pure.

Secrets, stack traces, paths and object addresses are masked. A path that the caller itself sent is kept: it is no secret,
and the error is about it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from msgspec.structs import replace

from strictwire.canon.json import JsonObject, JsonValue, render, slice_items
from strictwire.fault.redact import redact_text
from strictwire.gateway.links.raw_message import UpstreamAnswer, replace_at, slice_at
from strictwire.wire.revisions import Revision

TRACE_MARK: Final = "[stack trace removed]"
PATH_MARK: Final = "[path]"
CUT_MARK: Final = "[cut]"
ADDRESS_MARK: Final = b"[address]"

MAX_TEXT: Final = 64 * 1024
"""Characters of one answer that are searched, about 0.1 s of work; the rest is cut."""

_TRACES: Final = re.compile(
    r"Traceback \(most recent call last\):(?:\n(?:[ \t]+.*|[\w.]+(?:Error|Exception|Exit|Interrupt|Warning|Group)\b.*|))*"
    r"|(?:\n[ \t]*(?:at |\.\.\. \d+ more).*)+"
    r"|(?<![ \t])[ \t]*File \"[^\"\n]{0,400}\", line \d{1,9}.*(?:\n[ \t]+.*)*"
    r"|goroutine \d{1,9} \[[^\]\n]{1,80}\]:(?:\n.*)*"
    r"|stack backtrace:(?:\n.*)*"
)
"""Stack traces of Python, JavaScript and the JVM, single Python frames, Go, Rust. Each pattern begins at the start of a word
or of a run of spaces, so that the search takes linear time on hostile text."""

_PATHS: Final = re.compile(r"(?<![\w/:.])(?:/[\w.@+~-]+){2,}/?(?::\d+)*|(?<![\w])[A-Za-z]:\\[^\s\"'<>|?*]+")
"""Absolute paths of at least two segments, but not `https://host/x` or `and/or`."""

_ADDRESSES: Final = re.compile(rb"(?<= at )0x[0-9a-fA-F]{6,16}(?=>)")
"""The address in `<Thing object at 0x7f0c>`, which Python writes for a value without a JSON form."""

_STATUS: Final[Mapping[int, int]] = MappingProxyType(
    {-32601: 404, **dict.fromkeys((-32700, -32600, -32602, -32020, -32021, -32022), 400)}
)
"""HTTP statuses of relayed errors in the stateless era, for upstreams over stdio, which have no status of their own."""

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
    if b" at 0x" in raw:
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


def without_entries(answer: UpstreamAnswer, member: str, is_hidden: Callable[[JsonObject], bool]) -> UpstreamAnswer:
    """The answer to a list method without some of its entries; the others keep their bytes."""
    entries = (answer.result or {}).get(member)
    if not isinstance(entries, list):
        return answer
    hidden = [isinstance(each, dict) and is_hidden(each) for each in entries]
    if not any(hidden):
        return answer
    path = ("result", member)
    items = slice_items(slice_at(answer.raw, path) or b"[]")
    kept = [item for item, hide in zip(items, hidden, strict=True) if not hide]
    result = {**(answer.result or {}), member: [each for each, hide in zip(entries, hidden, strict=True) if not hide]}
    return replace(answer, raw=replace_at(answer.raw, path, b"[" + b",".join(kept) + b"]"), result=result)


def with_scope(answer: UpstreamAnswer, scope: str) -> UpstreamAnswer:
    """The answer with another `cacheScope`, if it has one."""
    if answer.result is None or answer.result.get("cacheScope") in (None, scope):
        return answer
    result = {**answer.result, "cacheScope": scope}
    return replace(answer, raw=replace_at(answer.raw, _CACHE_SCOPE, render(scope)), result=result)


def mask_addresses(raw: bytes) -> bytes:
    """The message, also a successful one, without object addresses: they only help an attacker."""
    return _ADDRESSES.sub(ADDRESS_MARK, raw)


def mask_text(text: str, given: str = "") -> str:
    """The text without secrets, stack traces and paths, except paths in `given`, which is what the caller sent."""
    text = _TRACES.sub(TRACE_MARK, text)
    text = redact_text(text)
    return _PATHS.sub(lambda found: found[0] if found[0].rstrip("/") in given else PATH_MARK, text)


class Masker:
    """Masks the texts of one answer, up to MAX_TEXT characters in all."""

    def __init__(self, given: str = "") -> None:
        # Bounded, because every path in the answer is searched in it.
        self._given = given[:MAX_TEXT]
        self._left = MAX_TEXT

    def mask(self, value: JsonValue) -> JsonValue:
        """Mask every text in a JSON value. Member names stay: they belong to the contract."""
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, list):
            return [self.mask(item) for item in value]
        if isinstance(value, dict):
            return {name: self.mask(item) for name, item in value.items()}
        return value

    def mask_content(self, content: JsonValue) -> JsonValue:
        """Mask the text items of a tool result; images and other data are not searched."""
        return [self._item(item) for item in content] if isinstance(content, list) else content

    def _item(self, item: JsonValue) -> JsonValue:
        if not isinstance(item, dict) or item.get("type") != "text" or not isinstance(item.get("text"), str):
            return item
        masked: JsonObject = {**item, "text": self._text(item["text"])}
        return masked

    def _text(self, text: str) -> str:
        kept, self._left = text[: self._left], max(self._left - len(text), 0)
        return mask_text(kept, self._given) + ("" if len(kept) == len(text) else CUT_MARK)

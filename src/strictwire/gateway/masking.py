"""Removes secrets, stack traces, paths and object addresses from the texts of an upstream. Pure.

A path that the caller itself sent is kept: it is no secret, and the error is about it.
"""

from __future__ import annotations

import re
from typing import Final

from strictwire.canon.json import JsonObject, JsonValue
from strictwire.fault.redact import redact_text

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


def mask_addresses(raw: bytes) -> bytes:
    """The message, also a successful one, without object addresses: they only help an attacker."""
    return _ADDRESSES.sub(ADDRESS_MARK, raw) if b" at 0x" in raw else raw


def mask_text(text: str, given: str = "") -> str:
    """The text without secrets, stack traces and paths, except paths in `given`, which is what the caller sent."""
    text = _TRACES.sub(TRACE_MARK, text)
    text = redact_text(text)
    return _PATHS.sub(lambda found: found[0] if found[0].rstrip("/") in given else PATH_MARK, text)


class Masker:
    """Masks the texts of one answer, up to MAX_TEXT characters in all."""

    def __init__(self, given: str = "") -> None:
        self._given = given
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

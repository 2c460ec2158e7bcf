"""Takes out of the texts of an upstream what no client should see: secrets, stack traces, paths, addresses. Pure.

A path that the caller itself gave is left alone: it is no secret, and the error is about it.
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
"""Characters of one answer that are searched, about a tenth of a second's work."""

_TRACES: Final = re.compile(
    r"Traceback \(most recent call last\):(?:\n(?:[ \t]+.*|[\w.]+(?:Error|Exception|Exit|Interrupt|Warning|Group)\b.*|))*"
    r"|(?:\n[ \t]*(?:at |\.\.\. \d+ more).*)+"
    r"|(?<![ \t])[ \t]*File \"[^\"\n]{0,400}\", line \d{1,9}.*(?:\n[ \t]+.*)*"
    r"|goroutine \d{1,9} \[[^\]\n]{1,80}\]:(?:\n.*)*"
    r"|stack backtrace:(?:\n.*)*"
)
"""Python, JavaScript and the JVM, single Python frames, Go, Rust. Each begins where a run of spaces or a word does, so that
the search takes time in proportion to the text, whoever wrote it."""

_PATHS: Final = re.compile(r"(?<![\w/:.])(?:/[\w.@+~-]+){2,}/?(?::\d+)*|(?<![\w])[A-Za-z]:\\[^\s\"'<>|?*]+")
"""Absolute paths of at least two parts; `https://host/x` and `and/or` are not among them."""


_ADDRESSES: Final = re.compile(rb"(?<= at )0x[0-9a-fA-F]{6,16}(?=>)")
"""Where an object stands in memory, as `<Thing object at 0x7f0c>` shows it: a value that JSON had no form for."""


def mask_addresses(raw: bytes) -> bytes:
    """A message, also one of a success, without addresses of objects: they help nobody but an attacker."""
    return _ADDRESSES.sub(ADDRESS_MARK, raw) if b" at 0x" in raw else raw


def mask_text(text: str, given: str = "") -> str:
    """The text without secrets, traces and foreign paths; `given` is what the caller sent, as text."""
    text = _TRACES.sub(TRACE_MARK, text)
    text = redact_text(text)
    return _PATHS.sub(lambda found: found[0] if found[0].rstrip("/") in given else PATH_MARK, text)


class Masker:
    """Masks the texts of one answer. What is past the budget is cut: no error needs to be a book."""

    def __init__(self, given: str = "") -> None:
        self._given = given
        self._left = MAX_TEXT

    def mask(self, value: JsonValue) -> JsonValue:
        """Every text in a JSON value. Names of members stay: they are the contract's."""
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, list):
            return [self.mask(item) for item in value]
        if isinstance(value, dict):
            return {name: self.mask(item) for name, item in value.items()}
        return value

    def mask_content(self, content: JsonValue) -> JsonValue:
        """The text items of a tool result; pictures and other data are not searched."""
        return [self._item(item) for item in content] if isinstance(content, list) else content

    def _item(self, item: JsonValue) -> JsonValue:
        if not isinstance(item, dict) or item.get("type") != "text" or not isinstance(item.get("text"), str):
            return item
        masked: JsonObject = {**item, "text": self._text(item["text"])}
        return masked

    def _text(self, text: str) -> str:
        kept, self._left = text[: self._left], max(self._left - len(text), 0)
        return mask_text(kept, self._given) + ("" if len(kept) == len(text) else CUT_MARK)

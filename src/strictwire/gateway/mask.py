"""Takes out of the error texts of an upstream what no client should see: secrets, stack traces, paths. Pure.

A path that the caller itself gave is left alone: it is no secret, and the error is about it.
"""

from __future__ import annotations

import re
from typing import Final

from strictwire.canon.json import JsonObject, JsonValue
from strictwire.fault.redact import redact_text

TRACE_MARK: Final = "[stack trace removed]"
PATH_MARK: Final = "[path]"

_TRACES: Final = re.compile(
    r"Traceback \(most recent call last\):(?:\n(?:[ \t]+.*|[\w.]+(?:Error|Exception|Exit|Interrupt|Warning|Group)\b.*|))*"
    r"|(?:\n[ \t]*(?:at |\.\.\. \d+ more).*)+"
    r"|(?:\n?[ \t]*File \"[^\"]*\", line \d+.*(?:\n[ \t]+.*)?)+"
    r"|goroutine \d+ \[[^\]]*\]:(?:\n.*)*"
    r"|stack backtrace:(?:\n.*)*"
)
"""Python, JavaScript and the JVM, single Python frames, Go, Rust."""

_PATHS: Final = re.compile(r"(?<![\w/:.])(?:/[\w.@+~-]+){2,}/?(?::\d+)*|(?<![\w])[A-Za-z]:\\[^\s\"'<>|?*]+")
"""Absolute paths of at least two parts; `https://host/x` and `and/or` are not among them."""


def mask_text(text: str, given: str = "") -> str:
    """The text without secrets, traces and foreign paths; `given` is what the caller sent, as text."""
    text = _TRACES.sub(TRACE_MARK, text)
    text = redact_text(text)
    return _PATHS.sub(lambda found: found[0] if found[0].rstrip("/") in given else PATH_MARK, text)


def mask(value: JsonValue, given: str = "") -> JsonValue:
    """The same for every text in a JSON value. Names of members stay: they are the contract's."""
    if isinstance(value, str):
        return mask_text(value, given)
    if isinstance(value, list):
        return [mask(item, given) for item in value]
    if isinstance(value, dict):
        return {name: mask(item, given) for name, item in value.items()}
    return value


def mask_content(content: JsonValue, given: str = "") -> JsonValue:
    """The text items of a tool result; pictures and other data are not searched."""
    if not isinstance(content, list):
        return content
    return [_mask_item(item, given) for item in content]


def _mask_item(item: JsonValue, given: str) -> JsonValue:
    if not isinstance(item, dict) or item.get("type") != "text" or not isinstance(item.get("text"), str):
        return item
    masked: JsonObject = {**item, "text": mask_text(item["text"], given)}
    return masked

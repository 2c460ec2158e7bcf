"""Converts text in other encodings to UTF-8, and tells text from binary data. Pure.

Detection needs chardet (extra `context`). Text with a byte order mark is converted without it.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

_SAMPLE: Final = 65_536
"""Bytes that detection reads: it takes milliseconds, and more text hardly changes the result."""

_BINARY_SAMPLE: Final = 8192
"""Bytes in which a NUL means binary data; git reads as many."""

_MARKS: Final = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
"""Byte order marks. UTF-32 comes first, because its little-endian mark begins with that of UTF-16."""

_CONTROL: Final = bytes({*range(32)} - {*b"\t\n\f\r\x1b"})
_MAX_CONTROL_SHARE: Final = 0.02
"""Largest share of control characters in text. Random bytes have a tenth."""


class NotText(ValueError):
    """The bytes are not text."""


class UnknownEncoding(ValueError):
    """The bytes look like text, but no encoding fits."""


def to_utf8(raw: bytes) -> tuple[bytes, str]:
    """Return the text as UTF-8 and the encoding it was in, empty for UTF-8. Raises NotText, UnknownEncoding."""
    for mark, name in _MARKS:
        if raw.startswith(mark):
            return _convert(raw, name)
    if b"\0" in raw[:_BINARY_SAMPLE]:
        raise NotText
    try:
        raw.decode()
    except UnicodeDecodeError:
        return _detect(raw)
    return raw, ""


def _detect(raw: bytes) -> tuple[bytes, str]:
    sample = raw[:_SAMPLE]
    if len(sample) - len(sample.translate(None, _CONTROL)) > _MAX_CONTROL_SHARE * len(sample):
        raise NotText
    best = _detector()(sample)
    if best is None:
        raise UnknownEncoding
    return _convert(raw, best)


def _convert(raw: bytes, name: str) -> tuple[bytes, str]:
    try:
        return raw.decode(name).encode(), name
    except (UnicodeError, LookupError) as exc:
        raise UnknownEncoding from exc


@cache
def _detector() -> Callable[[bytes], str | None]:
    if find_spec("chardet") is None:
        return lambda _sample: None
    library: Any = import_module("chardet")

    def detect(sample: bytes) -> str | None:
        found = library.detect(sample)["encoding"]
        return None if found is None else codecs.lookup(found).name

    return detect

"""The number of values and the depth of a JSON document, found from its bytes alone.

Decoded JSON takes up to fifty times the memory of its bytes: `[]` is two bytes and takes 64. So large documents are
counted before they are parsed. Both functions run in linear time, in C, without recursion and without building values.
Not here: whether the document is valid (`json`).
"""

from __future__ import annotations

import re
from typing import Final

_NOT_BRACKETS: Final = bytes(set(range(256)) - set(b'[]{}"'))
_NOT_STRUCTURE: Final = _NOT_BRACKETS.replace(b",", b"")
_SQUARE: Final = bytes.maketrans(b"{}", b"[]")
"""One kind of bracket is enough: the parser checks that they match."""
_STRING: Final = re.compile(rb'"[^"]*"')

_COUNT_FIRST_BELOW: Final = 2048
"""Bytes. Counting brackets is the fastest test for a small document; in a large one it stops at every bracket found."""


def has_more_values(raw: bytes, limit: int) -> bool:
    """Whether a document has more than `limit` values. Every value but the first follows a bracket or a comma.

    Also holds for the part of an invalid document that a parser decodes before it finds the error. An empty array or object
    counts as two values.
    """
    if len(raw) <= limit or raw.count(b",") + raw.count(b"[") + raw.count(b"{") < limit:
        return False
    return count_values(raw) > limit


def count_values(raw: bytes) -> int:
    """The values of a document. An empty array or object counts as two."""
    structure = _without_strings(raw, _NOT_STRUCTURE)
    return structure.count(b",") + structure.count(b"[") + 1


def is_deeper(raw: bytes, limit: int) -> bool:
    """Whether a valid document is nested deeper than `limit`. The cheapest sufficient test decides:

    1. Fewer bytes, or fewer opening brackets, than the limit: it cannot be exceeded.
    2. Otherwise remove all empty pairs of brackets, again and again. Each round removes exactly the innermost level.
    """
    if len(raw) <= limit:
        return False
    if len(raw) < _COUNT_FIRST_BELOW and raw.count(b"{") + raw.count(b"[") <= limit:
        return False
    brackets = _without_strings(raw, _NOT_BRACKETS)
    for _ in range(limit):
        if not brackets:
            return False
        brackets = brackets.replace(b"[]", b"")
    return bool(brackets)


def _without_strings(raw: bytes, unwanted: bytes) -> bytes:
    """The document without its strings and without some other characters, and with braces as brackets."""
    if b"\\" in raw:  # only `\\` and `\"` matter to where a string ends
        raw = raw.replace(rb"\\", b"").replace(rb"\"", b"")
    # Without the unwanted characters, most strings are a pair of quotes.
    kept = raw.translate(_SQUARE, unwanted).replace(b'""', b"")
    return _STRING.sub(b"", kept) if b'"' in kept else kept

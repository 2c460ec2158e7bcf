"""The text rules of v0: lowercase, words, token estimate and document ids. Pure; `search` does not use them.

Nothing here may change: every v0 score, order and id depends on it.
"""

from __future__ import annotations

import re
from typing import Final

WHITE_SPACE: Final = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
"""The 25 code points with the Unicode property White_Space."""

BYTES_PER_TOKEN: Final = 4
"""v0 estimates a token as four UTF-8 bytes, rounded up."""

_SEPARATOR: Final = re.compile(f"[{WHITE_SPACE}]+")


def split_words(text: str) -> list[str]:
    """Split a text into maximal runs without White_Space, in their original case."""
    if _has_other_separators(text):
        return [word for word in _SEPARATOR.split(text) if word]
    return text.split()


def _has_other_separators(text: str) -> bool:
    """Return whether the text has characters that `str.split` splits at although they are not White_Space."""
    return "\x1c" in text or "\x1d" in text or "\x1e" in text or "\x1f" in text


def parse_words(text: str) -> list[str]:
    """Return the words that scoring compares: full Unicode lowercase, then split. Nothing is stripped or stemmed."""
    return split_words(text.lower())


def estimate_tokens(size: int) -> int:
    """Return the estimated number of tokens of a content of `size` UTF-8 bytes."""
    return -(-size // BYTES_PER_TOKEN)


def extension_of(name: str) -> str:
    """Return the part after the last dot of a file name; empty if there is no dot or it is the first character."""
    stem, _, last = name.rpartition(".")
    return last if stem else ""


def document_id(relative: str) -> str:
    """Return the id of a source with this path relative to the root."""
    name = relative.replace("\\", "/")
    while name.startswith("./"):
        name = name[2:]
    return name.lower()

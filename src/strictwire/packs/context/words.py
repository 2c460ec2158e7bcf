"""The text rules of v0: lowercase, words, the token estimate, document ids. Pure; not used by `search`.

Nothing here may change: every v0 score, order and id depends on it.
"""

from __future__ import annotations

import re
from typing import Final

WHITE_SPACE: Final = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
"""Unicode White_Space, all twenty-five code points."""

BYTES_A_TOKEN: Final = 4
"""v0 estimates a token as four UTF-8 bytes, rounded up."""

_SEPARATOR: Final = re.compile(f"[{WHITE_SPACE}]+")


def split_words(text: str) -> list[str]:
    """The words of a text in its own case: maximal runs without White_Space."""
    if _may_have_others(text):
        return [word for word in _SEPARATOR.split(text) if word]
    return text.split()


def _may_have_others(text: str) -> bool:
    """Whether it holds what `str.split` splits on although Unicode does not call it White_Space."""
    return "\x1c" in text or "\x1d" in text or "\x1e" in text or "\x1f" in text


def parse_words(text: str) -> list[str]:
    """The words that scoring compares: full Unicode lowercase first, then split. Nothing is stripped or stemmed."""
    return split_words(text.lower())


def estimate_tokens(size: int) -> int:
    """Tokens of a content of so many UTF-8 bytes."""
    return -(-size // BYTES_A_TOKEN)


def extension_of(name: str) -> str:
    """The extension of a file name: what follows the last dot, unless that dot is the first character; else nothing."""
    stem, _, last = name.rpartition(".")
    return last if stem else ""


def document_id(relative: str) -> str:
    """The id of a source at this path relative to its root."""
    name = relative.replace("\\", "/")
    while name.startswith("./"):
        name = name[2:]
    return name.lower()

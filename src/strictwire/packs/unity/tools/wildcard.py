"""Matches names with `*` and `?`. Takes time proportional to both lengths, which a regular expression does not promise."""

from __future__ import annotations


def matches(pattern: str, text: str) -> bool:
    """Whether the whole text fits. `*` is any run of characters, `?` any one."""
    at = place = 0
    star, retry = -1, 0
    while at < len(text):
        if place < len(pattern) and pattern[place] == "*":
            star, retry = place, at
            place += 1
        elif place < len(pattern) and pattern[place] in ("?", text[at]):
            place += 1
            at += 1
        elif star >= 0:
            retry += 1
            place, at = star + 1, retry
        else:
            return False
    return all(each == "*" for each in pattern[place:])

"""Matches names with `*` and `?`.

The parts between the stars have a fixed length each and are searched for one after the other. One regular expression for
the whole pattern would try every way to share the name between its stars.
"""

from __future__ import annotations

import re
from functools import lru_cache


def matches(pattern: str, text: str) -> bool:
    """Whether the whole text fits. `*` is any run of characters, `?` any one."""
    first, *between = _parts(pattern)
    if not between:
        return first.fullmatch(text) is not None
    found = first.match(text)
    last = between.pop()
    for part in between:
        found = part.search(text, found.end()) if found else None
    rest = len(text) - pattern[::-1].index("*")
    return found is not None and found.end() <= rest and last.match(text, rest) is not None


@lru_cache(maxsize=64)
def _parts(pattern: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(re.escape(part).replace(r"\?", "."), re.DOTALL) for part in pattern.split("*"))

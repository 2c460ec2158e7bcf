"""Text search over the files of the roots, in time linear in their size whatever the pattern.

The engine is RE2: no backtracking, so no back references and no look-around. `finditer` alone would not be linear, since
each match may look ahead to the end of the text; matches therefore end with their line, and the clock is read between two.
Nor is one call of RE2 short: 8 MB against a program of 1,200 instructions take 100 s once its automaton outgrows its memory.
Text is therefore searched in windows, which are the smaller the larger the program is.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import re2
from pathspec import PathSpec

from strictwire.packs.code.engine import EngineTimeout, Mention, Mentions, PatternRefused, TextQuery
from strictwire.packs.code.files import Files
from strictwire.packs.code.lines import MAX_TEXT, NotSource, locate, neighbours, normalise, read_source

NAME: Final = "text search"
"""The name of the engine in a timeout."""

MAX_PATTERN: Final = 512
"""Characters of a pattern: the cap on query strings."""

WINDOW_WORK: Final = 64 * 1024 * 1024
"""Bytes times instructions of one call of RE2: 0.7 s at worst. An expression of 18 instructions has windows of 3.7 MB."""

_WORD: Final = re.compile(r"\w")

_AT_ONCE: Final = 2
"""Searches that run at the same time. Each reads every file; more of them only make all of them late."""


class Search:
    """See engine.TextSearch. Files are read in another thread."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._running = asyncio.Semaphore(_AT_ONCE)

    async def search(self, query: TextQuery, *, seconds: float) -> Mentions:
        """See TextSearch."""
        pattern = compile_pattern(query)
        globs = _compile_globs(query.globs)
        self._files.refresh()
        paths, roots = self._files.paths, [f"{root}/" for root in self._files.roots]
        chosen = [path for path in paths if globs is None or _matches(path, globs, roots)]
        end = time.monotonic() + seconds
        async with self._running:
            found = await asyncio.to_thread(_find_all, chosen, pattern, query, end)
        if found is None:
            raise EngineTimeout(NAME, seconds)
        return replace(found, gaps=found.gaps + self._files.capped)


def compile_pattern(query: TextQuery) -> Any:
    """The compiled pattern. Raises PatternRefused: too long, not valid for RE2, or it matches the empty string."""
    if len(query.pattern) > MAX_PATTERN:
        raise PatternRefused(f"the pattern is longer than {MAX_PATTERN} characters")
    options = re2.Options()
    options.log_errors = False
    options.never_nl = True
    options.case_sensitive = not query.ignore_case
    text = f"(?m:{query.pattern})" if query.regex else re2.escape(query.pattern)
    try:
        pattern = re2.compile(text, options)
    except re2.error as exc:
        raise PatternRefused(_reason(exc)) from None
    if pattern.fullmatch(b"") is not None:
        raise PatternRefused("the pattern matches the empty string; ask for at least one character")
    return pattern


def _reason(exc: Exception) -> str:
    """RE2's own words, which quote the pattern and nothing else."""
    said = exc.args[0] if exc.args else b""
    text = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
    return f"not a regular expression of RE2: {text[:100]} (look-around and back references are not supported)"


def _compile_globs(globs: tuple[str, ...]) -> PathSpec[Any] | None:
    try:
        return PathSpec.from_lines("gitignore", globs) if globs else None
    except ValueError:
        raise PatternRefused("not a glob; use patterns as in .gitignore, such as *.py or src/**", argument="glob") from None


def _matches(path: str, globs: PathSpec[Any], roots: list[str]) -> bool:
    return any(globs.match_file(path[len(root) :]) for root in roots if path.startswith(root))


def _find_all(paths: list[str], pattern: Any, query: TextQuery, end: float) -> Mentions | None:
    """Every match up to the limit; None if the time is over."""
    found: list[Mention] = []
    gaps = 0
    for path in paths:
        try:
            raw = normalise(read_source(path))
        except FileNotFoundError:
            continue
        except OSError as exc:
            gaps += not isinstance(exc, NotSource) or exc.too_large  # binary files are not meant
            continue
        windows, is_cut = _windows(raw, _window_bytes(pattern, query))
        gaps += is_cut
        spans = _spans(pattern, raw, windows, query, end)
        if spans is None or time.monotonic() > end:
            return None
        found.extend(locate(Path(path), raw, spans[: query.limit + 1 - len(found)]))
        if len(found) > query.limit:
            return Mentions(items=tuple(found[: query.limit]), capped=True, gaps=gaps)
    return Mentions(items=tuple(found), gaps=gaps)


def _window_bytes(pattern: Any, query: TextQuery) -> int:
    """Bytes that RE2 searches in one call. The automaton of a plain text is small, so its window is the whole file."""
    return max(WINDOW_WORK // pattern.programsize, 1) if query.regex else MAX_TEXT


def _windows(raw: bytes, size: int) -> tuple[list[tuple[int, int]], bool]:
    """Whole lines, as many as fit; and whether a line is longer than a window, so that a match across its cut is missed."""
    windows: list[tuple[int, int]] = []
    start, is_cut = 0, False
    while start < len(raw):
        end = min(start + size, len(raw))
        if end < len(raw):
            newline = raw.rfind(b"\n", start, end)
            is_cut |= newline < 0
            end = newline + 1 if newline >= 0 else end
        windows.append((start, end))
        start = end
    return windows, is_cut


def _spans(
    pattern: Any, raw: bytes, windows: list[tuple[int, int]], query: TextQuery, end: float
) -> list[tuple[int, int]] | None:
    spans: list[tuple[int, int]] = []
    for window in windows:
        if time.monotonic() > end:
            return None
        for match in _matches_in(pattern, raw, window):
            if time.monotonic() > end:
                return None
            if not query.whole_word or _is_whole(raw, match):
                spans.append(match)
            if len(spans) > query.limit:
                return spans
    return spans


def _matches_in(pattern: Any, raw: bytes, window: tuple[int, int]) -> Iterator[tuple[int, int]]:
    # With bounds instead of a slice, ^, $ and \b see the text around the window.
    for match in pattern.finditer(raw, *window):
        start, end = match.span()
        if end > start:
            yield start, end


def _is_whole(raw: bytes, span: tuple[int, int]) -> bool:
    return not any(map(_WORD.match, neighbours(raw, *span)))

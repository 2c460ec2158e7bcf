"""Readiness: whether an engine has indexed everything, by signs of its own. No I/O.

Two equal answers in a row, or the first diagnostics, are not signs: basedpyright repeats 3 of 54 references for seconds.
"""

from __future__ import annotations

import asyncio
import re
from contextlib import suppress

from strictwire.canon.json import JsonObject
from strictwire.packs.code.engines.spec import Hint, Sign


class Barrier:
    """Counts signs in their order."""

    def __init__(self, signs: tuple[Sign, ...]) -> None:
        self._signs = tuple((sign.hint, re.compile(sign.pattern)) for sign in signs)
        self._seen = 0
        self._running: dict[str, str] = {}
        self._open = asyncio.Event()
        self._update()

    @property
    def is_ready(self) -> bool:
        """Whether every sign was seen and nothing that counts is still running."""
        return self._open.is_set()

    def see(self, hint: Hint, text: str) -> None:
        """Take in one hint."""
        if self._seen < len(self._signs):
            expected, pattern = self._signs[self._seen]
            if hint is expected and pattern.search(text):
                self._seen += 1
                self._update()

    def see_progress(self, params: JsonObject) -> None:
        """Take in a `$/progress` notification. The title is in its begin alone; the token tells which one ends."""
        value, token = params.get("value"), str(params.get("token"))
        kind = value.get("kind") if isinstance(value, dict) else None
        if kind == "begin" and isinstance(value, dict):
            title = str(value.get("title"))
            if any(hint is Hint.PROGRESS and pattern.search(title) for hint, pattern in self._signs):
                self._running[token] = title
                self._update()
        elif kind == "end" and token in self._running:
            self.see(Hint.PROGRESS, self._running.pop(token))
            self._update()

    def reset(self) -> None:
        """Every sign has to be seen again."""
        self._seen = 0
        self._update()

    async def wait(self, seconds: float) -> bool:
        """Wait until ready, at most so long; returns whether it is."""
        if not self._open.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._open.wait()
        return self._open.is_set()

    def _update(self) -> None:
        if self._seen == len(self._signs) and not self._running:
            self._open.set()
        else:
            self._open.clear()

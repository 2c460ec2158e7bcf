"""Diagnostics that an engine pushes: the last of each document, and waiting for the next. No I/O."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from strictwire.canon.json import JsonObject, JsonValue

MAX_DOCUMENTS: Final = 20_000
"""Documents whose diagnostics are kept."""


@dataclass(frozen=True, slots=True)
class _Pushed:
    version: int | None
    items: list[JsonValue]


class PushedDiagnostics:
    """See the module. `changed` is called when a document that was known gets other diagnostics."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed
        self._known: dict[str, _Pushed] = {}
        self._waiting: dict[str, list[asyncio.Future[None]]] = {}

    def take(self, params: JsonObject) -> None:
        """Take in a `textDocument/publishDiagnostics`."""
        uri, items, version = params.get("uri"), params.get("diagnostics"), params.get("version")
        if not isinstance(uri, str) or not isinstance(items, list):
            return
        before = self._known.get(uri)
        if before is None and len(self._known) >= MAX_DOCUMENTS:
            return
        self._known[uri] = _Pushed(version if isinstance(version, int) else None, items)
        for future in self._waiting.pop(uri, []):
            if not future.done():
                future.set_result(None)
        if before is not None and before.items != items:
            self._changed()

    def forget(self, uri: str) -> None:
        """The text of a document is sent anew: what is known about it is out of date."""
        self._known.pop(uri, None)

    async def wait(self, uri: str, version: int) -> list[JsonValue]:
        """The diagnostics of a version of a document, once they are there. An engine may leave the version out."""
        while not self._is_current(uri, version):
            future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.setdefault(uri, []).append(future)
            await future
        return self._known[uri].items

    def _is_current(self, uri: str, version: int) -> bool:
        known = self._known.get(uri)
        return known is not None and (known.version is None or known.version >= version)

    def end(self, reason: Exception) -> None:
        """No more diagnostics arrive: every `wait` raises the reason."""
        waiting, self._waiting = self._waiting, {}
        for future in (each for futures in waiting.values() for each in futures):
            if not future.done():
                future.set_exception(reason)

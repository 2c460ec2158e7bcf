"""What an engine is told about files: documents that are open, and files that changed on disk.

The disk is the truth. A document is opened with its present text and changed when the file is; an engine that does not
read changed files by itself gets them opened.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from strictwire.canon.json import JsonObject
from strictwire.packs.code.engines.spec import EngineSpec, Rereads
from strictwire.packs.code.files import FileChange
from strictwire.packs.code.languages import language_id, maybe_language
from strictwire.packs.code.lines import read_source
from strictwire.packs.code.uri import render_file_uri

MAX_OPEN: Final = 64
"""Documents open at a time. Engines keep the syntax tree of each; the one used longest ago is closed first."""

Notify: TypeAlias = Callable[[str, JsonObject], None]


class TooManyChanges(Exception):
    """More files changed than can be open. An engine that needs them open has to be started again."""


@dataclass(slots=True)
class _Document:
    uri: str
    sent_at: int
    """How many rounds of changes there had been when its text was last sent."""
    version: int = 1
    pinned: bool = False
    """Its content is newer than what the engine has on file, so it must stay open."""


class Sync:
    """The documents of one running engine. `notify` sends a notification to it."""

    def __init__(self, spec: EngineSpec, notify: Notify, *, max_open: int = MAX_OPEN) -> None:
        self._spec = spec
        self._notify = notify
        self._max_open = max_open
        self._open: OrderedDict[str, _Document] = OrderedDict()
        self._rounds = 0

    def open(self, path: str) -> int:
        """Open a document, if it is not; returns its version. Raises OSError: it cannot be read as text."""
        if path not in self._open:
            self._add(path, _read(path))
        self._open.move_to_end(path)
        return self._open[path].version

    def renew(self, path: str) -> int:
        """Open a document, or send its text again if any file changed since it was sent; returns its version.

        Another file may have changed what this one means, and an engine that pushes diagnostics looks again only then.
        Raises OSError.
        """
        if path in self._open and self._open[path].sent_at != self._rounds:
            self._change(path, _read(path))
        return self.open(path)

    def apply(self, changes: Mapping[str, FileChange]) -> list[str]:
        """Tell the engine what changed; returns documents that it has to look at before it is asked anything.

        Raises TooManyChanges.
        """
        if not changes:
            return []
        self._rounds += 1
        events = [{"uri": render_file_uri(path), "type": int(change)} for path, change in changes.items()]
        self._notify("workspace/didChangeWatchedFiles", {"changes": events})
        return [path for path, change in changes.items() if self._apply_one(path, change)]

    def _apply_one(self, path: str, change: FileChange) -> bool:
        is_open = path in self._open
        try:
            if change is FileChange.DELETED:
                raise FileNotFoundError
            if is_open:
                self._change(path, _read(path))
                return self._spec.rereads is Rereads.OPENED
            if self._spec.rereads is Rereads.OPENED and maybe_language(path) in self._spec.languages:
                self._add(path, _read(path), pinned=True)
                return True
        except OSError:
            if is_open:
                self._close(path)
        return False

    def _add(self, path: str, text: str, *, pinned: bool = False) -> None:
        while len(self._open) >= self._max_open:
            oldest = next((each for each, document in self._open.items() if not document.pinned), None)
            if oldest is None:
                raise TooManyChanges
            self._close(oldest)
        document = _Document(uri=render_file_uri(path), sent_at=self._rounds, pinned=pinned)
        self._open[path] = document
        item = {"uri": document.uri, "languageId": language_id(path), "version": 1, "text": text}
        self._notify("textDocument/didOpen", {"textDocument": item})

    def _change(self, path: str, text: str) -> None:
        document = self._open[path]
        document.version += 1
        document.sent_at = self._rounds
        document.pinned = self._spec.rereads is Rereads.OPENED
        item = {"uri": document.uri, "version": document.version}
        self._notify("textDocument/didChange", {"textDocument": item, "contentChanges": [{"text": text}]})

    def _close(self, path: str) -> None:
        document = self._open.pop(path)
        self._notify("textDocument/didClose", {"textDocument": {"uri": document.uri}})


def _read(path: str) -> str:
    return read_source(path).decode("utf-8", "replace")

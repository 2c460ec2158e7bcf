"""The tool context.get: one document or a range of its lines, within a token budget."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from strictwire.canon.json import JsonObject, render
from strictwire.contract.handler import Answer
from strictwire.fault.failure import Failure, Refused, fail
from strictwire.packs.context.extract import VERBATIM
from strictwire.packs.context.rules import Unusable
from strictwire.packs.context.search.index_file import DamagedIndex, IndexedDocument, SearchIndex
from strictwire.packs.context.search.index_store import IndexStore
from strictwire.packs.context.search.texts import TextReader
from strictwire.packs.context.search.token_counters import TokenCounter

BUDGET: Final = 10_000
"""Most tokens of an answer if the call gives no budget."""

_NEAR: Final = 3
_MAX_COMPARED: Final = 2_000
"""Most ids that are compared with an unknown one: 0.06 s for ids of 45 characters that are all similar."""

_MAX_COMPARED_NAME: Final = 200
"""Longest unknown id, in characters, that is compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """The arguments of one call of context.get. Lines are counted from 1; `last` None means the end of the document."""

    cache: str
    id: str
    first: int = 1
    last: int | None = None
    budget: int = BUDGET


class Lookup:
    """Gets documents. Safe to call from any thread."""

    def __init__(self, counter: TokenCounter, store: IndexStore) -> None:
        self._counter = counter
        self._store = store
        self._texts = TextReader()

    def get(self, wanted: Wanted, path: Path) -> Answer:
        """Return the lines that fit the budget. Raises Refused: NOT_FOUND, INVALID_PARAMS, OVERLOADED, CACHE_*, IO_ERROR."""
        try:
            document = _find(wanted.id, self._open(path))
        except DamagedIndex:
            self._store.discard(path)
            document = _find(wanted.id, self._open(path))
        lines = self._texts.read(path, document).lines
        total = len(lines) - (lines[-1] == "")
        if wanted.first > max(total, 1):
            raise Refused(fail("INVALID_PARAMS", text=f"The document has {total} lines; `first` is {wanted.first}."))
        if wanted.last is not None and wanted.last < wanted.first:
            raise Refused(fail("INVALID_PARAMS", text=f"`last` is {wanted.last} and `first` is {wanted.first}."))
        last = min(wanted.last or total, total)
        return self._fit(wanted, document, lines[:total], last)

    def _open(self, path: Path) -> SearchIndex:
        state = self._store.open_all([path])[path]
        if isinstance(state, Unusable):
            raise state
        if not isinstance(state, SearchIndex):
            raise Refused(fail("OVERLOADED", text="The cache is still being indexed; call again in a few seconds."))
        return state

    def _fit(self, wanted: Wanted, document: IndexedDocument, lines: tuple[str, ...], last: int) -> Answer:
        """Return as many lines as the budget allows: the whole range, or what a binary search finds."""
        low, high = wanted.first - 1, last
        answer, used = self._write(wanted, document, lines, high)
        if used <= wanted.budget:
            return answer
        while high - low > 1:
            middle = (low + high) // 2
            if self._write(wanted, document, lines, middle)[1] <= wanted.budget:
                low = middle
            else:
                high = middle
        return self._write(wanted, document, lines, low)[0]

    def _write(self, wanted: Wanted, document: IndexedDocument, lines: tuple[str, ...], last: int) -> tuple[Answer, int]:
        """Return the answer with the lines up to `last`, and its tokens as it is sent."""
        body = "\n".join(lines[wanted.first - 1 : last])
        structured: JsonObject = {
            "cache": wanted.cache,
            "id": document.id,
            "source": document.source,
            "version": document.version,
            "kind": document.kind,
            "verbatim": document.kind in VERBATIM,
            "lines": {"first": wanted.first, "last": max(last, wanted.first - 1)},
            "totalLines": len(lines),
            "text": body,
        }
        rest = f"; get more with first={last + 1}" if last < min(wanted.last or len(lines), len(lines)) else ""
        head = f"{wanted.cache} {document.id} lines {wanted.first}-{last} of {len(lines)}{rest}"
        text = f"{head}\n{body}"
        used = self._counter.count(render(structured).decode()) + self._counter.count(text)
        return Answer(structured=structured, content=({"type": "text", "text": text},)), used


def _find(name: str, index: SearchIndex) -> IndexedDocument:
    """Return the document with this id. Raises Refused: NOT_FOUND; DamagedIndex."""
    number = index.find_document(name.lower())
    if number is None:
        raise Refused(_unknown(name, index))
    return index.document(number)


def _unknown(name: str, index: SearchIndex) -> Failure:
    count = min(index.documents, _MAX_COMPARED) if len(name) <= _MAX_COMPARED_NAME else 0
    ids = [index.document(number).id for number in range(count)]
    near = get_close_matches(name.lower(), ids, n=_NEAR, cutoff=0.5)
    hint = f"Did you mean {', '.join(near)}?" if near else "context.search finds the ids of documents."
    return fail("NOT_FOUND", text=f"The cache has no document with this id. {hint}")

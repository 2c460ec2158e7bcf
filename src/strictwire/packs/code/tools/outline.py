"""`outline`: a map of the project within a byte budget, the most used symbols first.

A symbol counts by the other files of its language that mention its name, shared between all symbols of that name:
`__init__` is everywhere and says little. Names that are plain words (`text`, `on`) count a tenth, because most of their
mentions mean something else. Chosen symbols are shown by root and file, the file of the most used one first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, Final, NamedTuple

from strictwire.canon.json import JsonObject
from strictwire.contract.handler import Answer
from strictwire.fault.failure import Refused, fail
from strictwire.packs.code.answers.compact import outline_lines, root_of
from strictwire.packs.code.answers.symbols import read_document_symbols
from strictwire.packs.code.engine import Completeness, FileSymbols
from strictwire.packs.code.found import Evidence, Found
from strictwire.packs.code.gate import Admitted
from strictwire.packs.code.limits import MAX_OUTLINE_FILES, OUTLINE_BYTES, OUTLINE_ITEMS
from strictwire.packs.code.service import Request, Service
from strictwire.packs.code.syntax.grammar import maybe_grammar
from strictwire.packs.code.uri import render_file_uri

_SLICE: Final = 256
"""Files that are read at once, so that other calls get their turn."""


class Ranked(NamedTuple):
    """One symbol and its weight."""

    weight: float
    uri: str
    item: JsonObject

    @property
    def order(self) -> tuple[Any, ...]:
        """The most used first; then by place, so that the order is the same every time."""
        position = self.item["position"]
        return (-self.weight, self.uri, position["line"], position["character"], self.item["name"])


async def outline(service: Service, arguments: JsonObject) -> Answer:
    """The map of the roots, of a folder or of a file."""
    if not service.gate.roots:
        raise Refused(fail("WORKSPACE_DENIED"))
    scope = service.gate.admit(arguments["uri"]) if "uri" in arguments else None
    budget = arguments.get("budget", OUTLINE_BYTES)
    request = Request(operation="outline", inputs=(None if scope is None else scope.uri, budget))
    return await service.answer(request, partial(_find, service, scope, budget), _lines)


def _lines(members: JsonObject, roots: Sequence[str]) -> list[str]:
    return outline_lines(members["files"], roots)


async def _find(service: Service, scope: Admitted | None, budget: int) -> Found:
    files = [path for path in await service.code.words.files() if scope is None or path.is_relative_to(scope.path)]
    read: list[FileSymbols] = []
    for start in range(0, min(len(files), MAX_OUTLINE_FILES), _SLICE):
        read += await service.code.outlines.symbols(files[start : start + _SLICE])
    ranked = await _rank(service, read)
    chosen = choose(ranked, budget, service.presenter.roots)
    omitted = len(ranked) - len(chosen)
    evidence = Evidence(engines=tuple(sorted({each.engine for each in read}, key=lambda each: each.language)))
    if omitted:
        evidence = evidence.but(Completeness.PARTIAL, f"{omitted} symbols do not fit the budget")
    unread = _count_unread(files, read, scope)
    if unread:
        evidence = evidence.but(Completeness.PARTIAL, f"{unread} source file{'' if unread == 1 else 's'} could not be read")
    members = {"files": by_file(chosen, service.presenter.roots), "omitted": omitted, "summary": _summary(chosen, omitted)}
    return Found(members=members, evidence=evidence.but_capped(capped=len(files) > MAX_OUTLINE_FILES))


def _count_unread(files: Sequence[Path], read: Sequence[FileSymbols], scope: Admitted | None) -> int:
    """Source files that are too large, binary, not readable, or named by the caller and not indexed."""
    known = {each.path for each in read}
    wanted = files[:MAX_OUTLINE_FILES] if scope is None or scope.path.is_dir() else [scope.path]
    return sum(path not in known and maybe_grammar(str(path)) is not None for path in wanted)


async def _rank(service: Service, read: Sequence[FileSymbols]) -> list[Ranked]:
    """Every symbol with its weight, the heaviest first."""
    ranked: list[Ranked] = []
    for language in sorted({each.engine.language for each in read}):
        symbols = [(each.path, symbol) for each in read if each.engine.language == language for symbol in _symbols(each)]
        defined = Counter(symbol["name"] for _, symbol in symbols)
        counts = await service.code.outlines.counts(set(defined), language=language)
        for path, symbol in symbols:
            others = max(counts.get(symbol["name"], 0) - 1, 0)
            weight = (others + _LEAST) / defined[symbol["name"]] * _KIND_WEIGHTS.get(symbol["kind"], 0.3)
            ranked.append(Ranked(weight * _distinction(symbol["name"]), render_file_uri(path), _item(symbol, others)))
    return sorted(ranked, key=lambda each: each.order)


_KIND_WEIGHTS: Final[Mapping[int, float]] = {5: 2.0, 10: 2.0, 11: 2.0, 23: 2.0, 12: 1.5, 14: 1.0, 6: 0.5}
"""Classes, enums, interfaces and structs before functions, constants, methods, and the rest (LSP's numbers)."""

_LEAST: Final = 0.01
"""Keeps symbols without a mention in the order of their kinds."""


def _distinction(name: str) -> float:
    """How likely a mention of the name means this symbol."""
    if len(name) < _SHORT or name.startswith("_"):
        return 0.05
    return 0.1 if name.isalpha() and name.islower() else 1.0


_SHORT: Final = 3
"""Characters below which a name says nothing: minified code is full of them."""


def _symbols(read: FileSymbols) -> list[JsonObject]:
    return read_document_symbols(read.symbols, render_file_uri(read.path))


def _item(symbol: JsonObject, others: int) -> JsonObject:
    container = symbol.get("containerName")
    shown: JsonObject = {
        "name": symbol["name"],
        "kind": symbol["kind"],
        "position": symbol["selectionRange"]["start"],
        "files": others,
    }
    return shown | ({"containerName": container} if container else {})


def choose(ranked: Sequence[Ranked], budget: int, roots: Sequence[str]) -> list[Ranked]:
    """The heaviest symbols whose map fits the budget: each costs its line, the first of a file or root also theirs."""
    chosen: list[Ranked] = []
    shown: set[str] = set()
    for each in ranked[:OUTLINE_ITEMS]:
        lines = outline_lines([{"uri": each.uri, "symbols": [each.item]}], roots)
        new = {root_of(each.uri, roots): lines[0], each.uri: lines[1], "": lines[2]}
        budget -= sum(len(line.encode()) + 1 for name, line in new.items() if name not in shown)
        if budget < 0:
            break
        shown |= new.keys() - {""}
        chosen.append(each)
    return chosen


def by_file(chosen: Sequence[Ranked], roots: Sequence[str]) -> list[JsonObject]:
    """Files by root and in the order of their heaviest symbol; the symbols of a file in the order of its text."""
    first = {each.uri: index for index, each in reversed(list(enumerate(chosen)))}
    ordered = sorted(chosen, key=lambda each: (root_of(each.uri, roots), first[each.uri], *each.order[2:]))
    groups = groupby(ordered, key=lambda each: each.uri)
    return [{"uri": uri, "symbols": [each.item for each in group]} for uri, group in groups]


def _summary(chosen: Sequence[Ranked], omitted: int) -> str:
    files = len({each.uri for each in chosen})
    more = f" ({omitted} omitted)" if omitted else ""
    return f"Mapped {len(chosen)} symbol{'' if len(chosen) == 1 else 's'} of {files} file{'' if files == 1 else 's'}{more}."

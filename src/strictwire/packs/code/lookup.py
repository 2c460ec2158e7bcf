"""From a caller's arguments to one place in one document: by `uri` and `position`, or by the name of a symbol.

A name is written as in code: `Class.method`, `package.module.Class`, `ns::Type::member`. Its last part is looked up in
the engines' symbols; the parts before it must end the symbol's path, which is the file's path followed by the containers.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from strictwire.canon.json import JsonObject
from strictwire.fault.failure import Refused, fail
from strictwire.packs.code.answers.order import range_key
from strictwire.packs.code.answers.ranges import Range
from strictwire.packs.code.answers.symbols import read_document_symbols
from strictwire.packs.code.answers.workspace_symbols import NO_ID, read_workspace_symbols, with_id
from strictwire.packs.code.documents import Document
from strictwire.packs.code.engine import Completeness
from strictwire.packs.code.found import Evidence, evidence_of
from strictwire.packs.code.gate import Admitted
from strictwire.packs.code.limits import MAX_CANDIDATES
from strictwire.packs.code.service import Request, Service
from strictwire.packs.code.uri import parse_file_uri

_SEPARATOR: Final = re.compile(r"::|[.#/\\]")
_INDEX_FILES: Final = frozenset({"__init__", "index", "mod", "lib", "main"})
"""File names that stand for their folder in a module path."""

MAX_FILES: Final = 200
"""Documents whose symbols are read to learn the containers of symbols with one name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One position in one document, inside its bounds."""

    place: Admitted
    document: Document
    position: JsonObject

    @property
    def inputs(self) -> tuple[Any, ...]:
        """Its part of a request's inputs."""
        return (self.place.uri, self.position["line"], self.position["character"])


class NotOneSymbol(Exception):
    """A name fits several symbols, or none. Carries what to offer instead, and the evidence of the search."""

    def __init__(self, name: str, candidates: Sequence[JsonObject], evidence: Evidence, *, exact: bool) -> None:
        super().__init__(name)
        self.candidates = tuple(with_id(each) for each in candidates[:MAX_CANDIDATES])
        self.evidence = evidence
        self.is_ambiguous = exact
        """Whether the candidates have the name; otherwise they only resemble it."""


async def find_target(service: Service, arguments: Mapping[str, Any]) -> Target:
    """The target of a call.

    Raises Refused: INVALID_PARAMS neither a position nor a name; the codes of the gate; NOT_FOUND, past the end;
    NotOneSymbol.
    """
    if "symbol" in arguments:
        if "position" in arguments:
            raise _invalid("position", "position and symbol exclude each other")
        return await _find_by_name(service, arguments["symbol"], arguments.get("uri"))
    for name in ("uri", "position"):
        if name not in arguments:
            raise _invalid(name, f"{name} is required unless symbol is given")
    place = service.gate.admit(arguments["uri"])
    document = await service.documents.open(place)
    document.check(arguments["position"])
    return Target(place=place, document=document, position=arguments["position"])


def _invalid(argument: str, message: str) -> Refused:
    violation = {"path": f"/{argument}", "keyword": "required", "message": message}
    return Refused(fail("INVALID_PARAMS", details={"violations": [violation]}))


async def _find_by_name(service: Service, name: str, uri: str | None) -> Target:
    if not service.gate.roots:
        raise Refused(fail("WORKSPACE_DENIED"))
    parts = [part for part in _SEPARATOR.split(name.strip().removesuffix("()")) if part]
    if not parts:
        raise _invalid("symbol", "symbol must name something")
    within = None if uri is None else service.gate.admit(uri)
    if within is not None:
        await service.documents.open(within)  # a folder or a binary file is NOT_FOUND here, as with a position
    request = Request(operation="lookup", inputs=(name, None if within is None else within.uri))
    return await _target(service, await service.recall(request, partial(_find_symbol, service, parts, within)))


async def _find_symbol(service: Service, parts: Sequence[str], within: Admitted | None) -> JsonObject:
    """The one symbol of a path. Raises NotOneSymbol."""
    name = parts[-1]
    known, evidence = await (_all_symbols(service, name) if within is None else _file_symbols(service, within))
    named = [symbol for symbol in known if symbol["name"] == name]
    placed = named if within is not None else await _with_containers(service, named)
    fitting = choose(placed, parts[:-1], service.gate.roots)
    if len(fitting) == 1:
        return fitting[0]
    # A method that is inherited has its name in another class: that is more use than names that are merely similar.
    raise NotOneSymbol(name, fitting or placed or known, service.judge(evidence), exact=bool(fitting))


async def _all_symbols(service: Service, name: str) -> tuple[list[JsonObject], Evidence]:
    replies = await service.ask_all("workspace/symbol", {"query": name})
    inside = service.gate.filter()
    return read_workspace_symbols((reply.value for reply in replies), inside), evidence_of(replies)


async def _file_symbols(service: Service, place: Admitted) -> tuple[list[JsonObject], Evidence]:
    """The symbols of one document, each where its name stands and with every container it is nested in."""
    reply = await service.ask(place.path, "textDocument/documentSymbol", {})
    symbols = read_document_symbols(reply.value, place.uri)
    return [_as_workspace_symbol(place.uri, each, symbols) for each in symbols], evidence_of([reply])


def _as_workspace_symbol(uri: str, symbol: JsonObject, others: Sequence[JsonObject]) -> JsonObject:
    place = Range(*range_key(symbol["selectionRange"]))
    container = ".".join(_containers(symbol, others)) or symbol.get("containerName")
    location = {"uri": uri, "range": place.as_json()}
    shown: JsonObject = {"id": NO_ID, "name": symbol["name"], "kind": symbol["kind"], "location": location}
    return shown | ({"containerName": container} if container else {})


def _containers(symbol: JsonObject, others: Sequence[JsonObject]) -> list[str]:
    """The names of the symbols around one, outermost first."""
    inner = Range(*range_key(symbol["range"]))
    around = [Range(*range_key(each["range"])) for each in others]
    return [each["name"] for each, outer in zip(others, around, strict=True) if outer != inner and outer.holds(inner)]


async def _with_containers(service: Service, symbols: list[JsonObject]) -> list[JsonObject]:
    """The same symbols as their documents give them: not every engine names containers in its workspace symbols."""
    uris = sorted({symbol["location"]["uri"] for symbol in symbols})[:MAX_FILES]
    places = [service.gate.admit(uri) for uri in uris]
    read = dict(zip(uris, await asyncio.gather(*(_file_symbols(service, place) for place in places)), strict=True))
    return [_contained(symbol, read.get(symbol["location"]["uri"])) for symbol in symbols]


def _contained(symbol: JsonObject, read: tuple[list[JsonObject], Evidence] | None) -> JsonObject:
    place = Range(*range_key(symbol["location"]["range"]))
    for each in read[0] if read is not None else []:
        start = each["location"]["range"]["start"]
        if each["name"] == symbol["name"] and place.contains(start["line"], start["character"]):
            return each
    return symbol


def choose(symbols: Sequence[JsonObject], qualifiers: Sequence[str], roots: Sequence[Path]) -> list[JsonObject]:
    """The symbols that the parts before a name allow: they end its path, or at least occur in it in their order.

    Several definitions of one path (overloads, a property's setter) count as the first of them.
    """
    wanted = tuple(qualifiers)
    paths = [(symbol, _paths_of(symbol, roots)) for symbol in symbols]
    fitting = [each for each in paths if any(path[len(path) - len(wanted) :] == wanted for path in each[1])]
    fitting = fitting or [each for each in paths if any(_occur_in_order(wanted, path) for path in each[1])]
    first: dict[tuple[str, ...], JsonObject] = {}
    for symbol, (path, *_) in fitting:
        first.setdefault((*path, symbol["location"]["uri"]), symbol)
    return list(first.values())


def _paths_of(symbol: JsonObject, roots: Sequence[Path]) -> list[tuple[str, ...]]:
    """Folders below the root, file and containers of a symbol; a file such as `__init__` may be left out."""
    path = Path(parse_file_uri(symbol["location"]["uri"]))
    root = max((each for each in roots if path.is_relative_to(each)), key=lambda each: len(each.parts), default=Path("/"))
    # The root's own name may begin a module path: a checkout is often named after its package.
    *folders, file = (root.name, *path.relative_to(root).parts)
    stem = file.partition(".")[0]
    containers = [part for part in _SEPARATOR.split(symbol.get("containerName", "")) if part]
    whole = (*folders, stem, *containers)
    return [whole, (*folders, *containers)] if stem in _INDEX_FILES else [whole]


def _occur_in_order(wanted: Sequence[str], path: Sequence[str]) -> bool:
    rest = iter(path)
    return all(part in rest for part in wanted)


async def _target(service: Service, symbol: JsonObject) -> Target:
    place = service.gate.admit(symbol["location"]["uri"])
    document = await service.documents.open(place)
    position = symbol["location"]["range"]["start"]
    document.check(position)
    if document.word_at(position) != (symbol["name"], position["character"]):
        # Some engines give the range of the whole definition: its name is the first word of that spelling.
        position = document.find_word(symbol["name"], position["line"]) or position
    return Target(place=place, document=document, position=position)


def unresolved(evidence: Evidence, target: Target) -> Evidence:
    """The evidence of an empty result: where a name stands, finding nothing is not knowing everything."""
    if target.document.word_at(target.position) is None:
        return evidence
    return evidence.but(Completeness.PARTIAL, "the engine does not resolve this symbol")

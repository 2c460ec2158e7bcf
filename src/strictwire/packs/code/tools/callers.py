"""`callers`: the functions that call a symbol, each with the places it calls from.

By the engine's call hierarchy, completed by references: a confirmed reference that is followed by `(` and that the
hierarchy does not know is a call too, such as one of a class in engines whose hierarchy has functions alone. Where an
engine has no call hierarchy, every use counts as a call. The references are checked against the word index in any case,
because a missing reference is a missing caller.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from strictwire.canon.json import JsonObject, JsonValue
from strictwire.contract.handler import Answer
from strictwire.fault.failure import Refused, fail
from strictwire.packs.code.answers.compact import caller_lines
from strictwire.packs.code.answers.ids import workspace_symbol_id
from strictwire.packs.code.answers.locations import Inside
from strictwire.packs.code.answers.order import range_key, sort_unique, workspace_symbol_key
from strictwire.packs.code.answers.ranges import Range, maybe_range
from strictwire.packs.code.answers.symbols import enclosing_symbol, read_document_symbols
from strictwire.packs.code.answers.texts import maybe_text
from strictwire.packs.code.engine import Completeness
from strictwire.packs.code.found import Evidence, evidence_of
from strictwire.packs.code.limits import LIST_ITEMS, MAX_REFERENCES
from strictwire.packs.code.lookup import NotOneSymbol, Target, find_target
from strictwire.packs.code.service import Gathered, Request, Service, show_page
from strictwire.packs.code.tools.offer import offer
from strictwire.packs.code.tools.references import find_uses
from strictwire.packs.code.uri import parse_file_uri

MAX_FILES: Final = 500
"""Documents whose symbols are read where there is no call hierarchy."""

UNKNOWN_CALLS: Final = "no call hierarchy: uses count as calls"

_CALL: Final = re.compile(r"\s{0,20}(?:<[^<>()]{0,200}>\s{0,20})?\(")
"""What follows the name of a function that is called: an argument list, after type arguments if there are any."""

_MODULE: Final = 2
"""LSP's kind of the caller where a call stands outside every function."""


async def callers(service: Service, arguments: JsonObject) -> Answer:
    """Who calls the symbol; paged."""
    try:
        target = await find_target(service, arguments)
    except NotOneSymbol as exc:
        return service.presenter.answer(offer(exc, {"items": [], "nextCursor": None}), _lines)
    request = Request(operation="callers", inputs=target.inputs)
    return await service.page(request, arguments, partial(_gather, service, target), show_page("caller"), _lines)


def _lines(members: JsonObject, roots: Sequence[str]) -> list[str]:
    return caller_lines(members["items"], roots)


async def _gather(service: Service, target: Target) -> Gathered:
    uses, calls = await asyncio.gather(find_uses(service, target, declaration=False), _incoming(service, target))
    if calls is None:
        items, around = await _around(service, uses.items)
        evidence = uses.evidence.but(around.completeness, around.note).but(Completeness.PARTIAL, UNKNOWN_CALLS)
    else:
        known, hierarchy = calls
        unknown = await _unknown_calls(service, uses.items, known)
        more, around = await _around(service, unknown)
        items = merge_callers([*known, *more])
        evidence = uses.evidence.but(hierarchy.completeness, hierarchy.note).but(around.completeness, around.note)
    if len(items) > MAX_REFERENCES:
        raise Refused(fail("CAP_EXCEEDED", text="Callers exceeded max total."))
    capped = any(len(item["calls"]) > LIST_ITEMS for item in items)
    shown = [item | {"calls": item["calls"][:LIST_ITEMS]} for item in items]
    return Gathered(items=shown, evidence=evidence.but_capped(capped=capped), facts={})


async def _unknown_calls(service: Service, uses: Sequence[JsonObject], known: Sequence[JsonObject]) -> list[JsonObject]:
    """References that are calls by their text and that no caller of the hierarchy covers."""
    covered: dict[str, list[Range]] = {}
    for caller in known:
        ranges = [Range(*range_key(call["range"])) for call in caller["calls"]]
        covered.setdefault(caller["location"]["uri"], []).extend(ranges)
    open_uses = [use for use in uses if not _is_covered(use, covered.get(use["uri"], ()))]
    return [use for use in open_uses if await _is_call(service, use)]


def _is_covered(use: JsonObject, calls: Sequence[Range]) -> bool:
    start = use["range"]["start"]
    return any(call.contains(start["line"], start["character"]) for call in calls)


async def _is_call(service: Service, use: JsonObject) -> bool:
    try:
        document = await service.documents.open(service.gate.admit(use["uri"]))
        return _CALL.match(document.after(use["range"]["end"])) is not None
    except Refused:
        return False  # it is gone since the engine answered: the changed files make the call be repeated


async def _incoming(service: Service, target: Target) -> tuple[list[JsonObject], Evidence] | None:
    """Callers by the call hierarchy; None if the engine has none."""
    prepared = await service.maybe_ask(target.place.path, "textDocument/prepareCallHierarchy", {"position": target.position})
    if prepared is None:
        return None
    items = [item for item in prepared.value if isinstance(item, dict)] if isinstance(prepared.value, list) else []
    asked = [service.ask(target.place.path, "callHierarchy/incomingCalls", {"item": item}) for item in items]
    replies = await asyncio.gather(*asked)
    inside = service.gate.filter()
    found = [caller for reply in replies for caller in read_callers(reply.value, inside)]
    return merge_callers(found), evidence_of([prepared, *replies])


def read_callers(value: JsonValue, inside: Inside) -> list[JsonObject]:
    """The `CallHierarchyIncomingCall`s inside the roots."""
    entries = value if isinstance(value, list) else []
    found = (_caller(each, inside) for each in entries if isinstance(each, dict))
    return [each for each in found if each is not None]


def _caller(value: JsonObject, inside: Inside) -> JsonObject | None:
    item: Any = value.get("from")
    if not isinstance(item, dict) or not isinstance(item.get("uri"), str) or type(item.get("kind")) is not int:
        return None
    uri, name = inside(item["uri"]), maybe_text(item.get("name"))
    place = maybe_range(item.get("selectionRange")) or maybe_range(item.get("range"))
    if uri is None or name is None or place is None:
        return None
    ranges = value.get("fromRanges")
    calls = [each for each in map(maybe_range, ranges) if each is not None] if isinstance(ranges, list) else []
    return make_caller(uri, name, max(item["kind"], 0), place, None, calls)


def make_caller(uri: str, name: str, kind: int, place: Range, container: str | None, calls: Sequence[Range]) -> JsonObject:
    """One caller with the ranges of its calls, in order."""
    shown: JsonObject = {
        "id": workspace_symbol_id(uri, name, kind, place, container),
        "name": name,
        "kind": kind,
        "location": {"uri": uri, "range": place.as_json()},
        "calls": [{"range": each.as_json()} for each in sorted(set(calls))],
    }
    return shown | ({"containerName": container} if container else {})


def merge_callers(found: Sequence[JsonObject]) -> list[JsonObject]:
    """Callers in order, those with one id put together."""
    by_id: dict[str, JsonObject] = {}
    for caller in found:
        known = by_id.get(caller["id"])
        calls = caller["calls"] if known is None else [*known["calls"], *caller["calls"]]
        by_id[caller["id"]] = caller | {"calls": sort_unique(calls, lambda call: range_key(call["range"]))}
    return sort_unique(by_id.values(), workspace_symbol_key)


async def _around(service: Service, uses: Sequence[JsonObject]) -> tuple[list[JsonObject], Evidence]:
    """Callers by the symbols around some references."""
    uris = sorted({use["uri"] for use in uses})
    asked = [service.ask(Path(parse_file_uri(uri)), "textDocument/documentSymbol", {}) for uri in uris[:MAX_FILES]]
    replies = await asyncio.gather(*asked)
    symbols = {uri: read_document_symbols(reply.value, uri) for uri, reply in zip(uris, replies, strict=False)}
    found = [_user(use, symbols[use["uri"]]) for use in uses if use["uri"] in symbols]
    return merge_callers(found), evidence_of(replies).but_capped(capped=len(uris) > MAX_FILES)


def _user(use: JsonObject, symbols: list[JsonObject]) -> JsonObject:
    call = Range(*range_key(use["range"]))
    around = enclosing_symbol(symbols, call.start_line, call.start_character)
    if around is None:
        file = use["uri"].rpartition("/")[2]
        return make_caller(use["uri"], file, _MODULE, Range(0, 0, 0, 0), None, [call])
    place = Range(*range_key(around["selectionRange"]))
    return make_caller(use["uri"], around["name"], around["kind"], place, around.get("containerName"), [call])

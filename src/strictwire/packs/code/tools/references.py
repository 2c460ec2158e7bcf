"""`references`: who uses a symbol, checked against the word index so that a missing use is noticed."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from strictwire.canon.json import JsonObject
from strictwire.contract.handler import Answer
from strictwire.fault.failure import Refused, fail
from strictwire.packs.code.answers import summaries
from strictwire.packs.code.answers.compact import location_lines
from strictwire.packs.code.answers.locations import read_locations
from strictwire.packs.code.answers.order import location_key, range_key, sort_unique
from strictwire.packs.code.answers.ranges import Range
from strictwire.packs.code.documents import units
from strictwire.packs.code.engine import Checked, Mention, Reply, Span
from strictwire.packs.code.found import Evidence, Found, evidence_of
from strictwire.packs.code.limits import MAX_RAW_REFERENCES, MAX_REFERENCES
from strictwire.packs.code.lookup import NotOneSymbol, Target, find_target
from strictwire.packs.code.service import Gathered, Request, Service, engine_failures
from strictwire.packs.code.tools.offer import offer
from strictwire.packs.code.uri import parse_file_uri, render_file_uri
from strictwire.packs.kit.paging import Page

_UNCONFIRMED: Final = "unconfirmed"
"""Marks a retained item that is a mention and no confirmed reference."""


async def references(service: Service, arguments: JsonObject) -> Answer:
    """Where the symbol is used; paged. With `includeUnconfirmed` also where its name stands unconfirmed."""
    with_mentions = arguments.get("includeUnconfirmed") is True
    nothing: JsonObject = {"items": [], "nextCursor": None}
    try:
        target = await find_target(service, arguments)
    except NotOneSymbol as exc:
        return service.presenter.answer(offer(exc, nothing), _lines)
    declaration = arguments.get("includeDeclaration") is True
    inputs = (*target.inputs, declaration, *([True] if with_mentions else []))
    gather = partial(_gather, service, target, declaration=declaration, with_mentions=with_mentions)
    show = partial(_show, with_mentions=with_mentions)
    return await service.page(Request(operation="references", inputs=inputs), arguments, gather, show, _lines)


def _show(page: Page, evidence: Evidence, *, with_mentions: bool) -> Found:
    members = _split(page.as_json(), with_mentions=with_mentions)
    summary = summaries.page(len(members["items"]), "reference", more=page.next_cursor is not None)
    return Found(members={**members, "summary": summary}, evidence=evidence)


def _split(page: JsonObject, *, with_mentions: bool) -> JsonObject:
    """Confirmed references and unconfirmed mentions of one page, apart."""
    if not with_mentions:
        return page
    confirmed = [item for item in page["items"] if _UNCONFIRMED not in item]
    mentions = [{"uri": item["uri"], "range": item["range"]} for item in page["items"] if _UNCONFIRMED in item]
    return {"items": confirmed, "mentions": mentions, "nextCursor": page["nextCursor"]}


def _lines(members: JsonObject, roots: Sequence[str]) -> list[str]:
    lines = location_lines(members["items"], roots)
    if members.get("mentions"):
        lines += [f"Unconfirmed ({len(members['mentions'])}):", *location_lines(members["mentions"], roots)]
    return lines


async def _gather(service: Service, target: Target, *, declaration: bool, with_mentions: bool) -> Gathered:
    used = await find_uses(service, target, declaration=declaration)
    mentions = [mention_location(each) | {_UNCONFIRMED: True} for each in used.unconfirmed] if with_mentions else []
    return Gathered(items=[*used.items, *sort_unique(mentions, location_key)], evidence=used.evidence, facts={})


class Uses(NamedTuple):
    """The confirmed uses of a symbol, and what is known about those that are missing."""

    items: list[JsonObject]
    unconfirmed: Sequence[Mention]
    evidence: Evidence


async def find_uses(service: Service, target: Target, *, declaration: bool) -> Uses:
    """Every use of the target, judged by the word index. Raises Refused: CAP_EXCEEDED, and the engine's codes."""
    if service.settings.drop_in:
        reply = await _ask(service, target, declaration=declaration)
        located = read_locations(reply.value, service.gate.filter())
        return Uses(_capped(located.items), (), evidence_of([reply], outside=located.outside))
    # Engines differ in what a declaration is; ty drops imports with it. So the engine is asked for everything, which the
    # check needs anyway, and only the definition itself is taken out.
    reply, declared = await asyncio.gather(_ask(service, target, declaration=True), _definitions(service, target))
    located = read_locations(reply.value, service.gate.filter())
    items = _capped(located.items)
    evidence = evidence_of([reply], outside=located.outside)
    checked = await _check(service, target, items, reply)
    if checked is not None:
        evidence = replace(evidence.but(checked.completeness), unconfirmed=len(checked.unconfirmed))
        evidence = evidence.but_capped(capped=checked.capped)
    shown = items if declaration else without_definitions(items, declared)
    return Uses(shown, () if checked is None else checked.unconfirmed, evidence)


def _capped(items: list[JsonObject]) -> list[JsonObject]:
    if len(items) > MAX_REFERENCES:
        raise _too_many()
    return items


async def _definitions(service: Service, target: Target) -> list[JsonObject]:
    reply = await service.maybe_ask(target.place.path, "textDocument/definition", {"position": target.position})
    return [] if reply is None else read_locations(reply.value, service.gate.filter()).items


def without_definitions(items: list[JsonObject], definitions: list[JsonObject]) -> list[JsonObject]:
    """References but those that are definitions: the first one inside each definition's range."""
    dropped = [next((item for item in items if _lies_in(item, each)), None) for each in definitions]
    return [item for item in items if item not in dropped]


def _lies_in(item: JsonObject, definition: JsonObject) -> bool:
    start = item["range"]["start"]
    place = Range(*range_key(definition["range"]))
    return bool(item["uri"] == definition["uri"]) and place.contains(start["line"], start["character"])


async def _ask(service: Service, target: Target, *, declaration: bool) -> Reply:
    params = {"position": target.position, "context": {"includeDeclaration": declaration}}
    reply = await service.ask(target.place.path, "textDocument/references", params)
    if isinstance(reply.value, list) and len(reply.value) > MAX_RAW_REFERENCES:
        raise _too_many()
    return reply


def _too_many() -> Refused:
    return Refused(fail("CAP_EXCEEDED", text="References exceeded max total."))


async def _check(service: Service, target: Target, items: list[JsonObject], reply: Reply) -> Checked | None:
    """The verdict of the word index; None where no name stands, for then nothing can be missing."""
    word = target.document.word_at(target.position)
    if word is None:
        return None
    name, start = word
    at = Span(path=target.place.path, line=target.position["line"], character=start, end=start + units(name))
    found = tuple(_span(item) for item in items)
    async with engine_failures():
        return await service.code.references.check(name, at, found, reply, seconds=service.settings.late_seconds)


def _span(item: JsonObject) -> Span:
    place = Range(*range_key(item["range"]))
    # A reference that ends on a later line cannot be one word; its start is what is compared.
    end = place.end_character if place.end_line == place.start_line else place.start_character
    path = Path(parse_file_uri(item["uri"]))
    return Span(path=path, line=place.start_line, character=place.start_character, end=end)


def mention_location(mention: Mention) -> JsonObject:
    """A mention as a location."""
    place = Range(mention.line, mention.character, mention.line, mention.end)
    return {"uri": render_file_uri(mention.path), "range": place.as_json()}

"""`definition`, `type_definition`, `implementations` and `hover`: what the engine says about one position."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from strictwire.canon.json import JsonObject
from strictwire.contract.handler import Answer
from strictwire.fault.failure import Refused, fail
from strictwire.packs.code.answers import summaries
from strictwire.packs.code.answers.compact import location_lines
from strictwire.packs.code.answers.hovers import fit_last, read_hovers
from strictwire.packs.code.answers.locations import read_locations
from strictwire.packs.code.found import Found, evidence_of
from strictwire.packs.code.limits import LIST_ITEMS, MAX_RAW_REFERENCES, MAX_REFERENCES
from strictwire.packs.code.lookup import NotOneSymbol, Target, find_target, unresolved
from strictwire.packs.code.service import Gathered, Request, Service, show_page
from strictwire.packs.code.tools.offer import offer

_METHODS: Final = {"definition": "textDocument/definition", "type_definition": "textDocument/typeDefinition"}


async def definition(service: Service, arguments: JsonObject) -> Answer:
    """Where the symbol is defined."""
    return await _places(service, arguments, "definition")


async def type_definition(service: Service, arguments: JsonObject) -> Answer:
    """Where the type of the symbol is defined."""
    return await _places(service, arguments, "type_definition")


async def _places(service: Service, arguments: JsonObject, operation: str) -> Answer:
    try:
        target = await find_target(service, arguments)
    except NotOneSymbol as exc:
        return service.presenter.answer(offer(exc, {"locations": []}), _lines)
    request = Request(operation=operation, inputs=target.inputs)
    return await service.answer(request, partial(_find_places, service, target, operation), _lines)


async def _find_places(service: Service, target: Target, operation: str) -> Found:
    reply = await service.ask(target.place.path, _METHODS[operation], {"position": target.position})
    located = read_locations(reply.value, service.gate.filter())
    evidence = evidence_of([reply], outside=located.outside)
    if not located.items and not located.outside:
        evidence = unresolved(evidence, target)
    shown, capped = located.items[:LIST_ITEMS], len(located.items) > LIST_ITEMS
    summary = summaries.found(len(shown), operation.replace("_", " "), capped=capped)
    return Found(members={"locations": shown, "summary": summary}, evidence=evidence.but_capped(capped=capped))


def _lines(members: JsonObject, roots: Sequence[str]) -> list[str]:
    return location_lines(members["locations"], roots)


async def implementations(service: Service, arguments: JsonObject) -> Answer:
    """Where an interface, a class or a method is implemented; paged."""
    try:
        target = await find_target(service, arguments)
    except NotOneSymbol as exc:
        return service.presenter.answer(offer(exc, {"items": [], "nextCursor": None}), _page_lines)
    request = Request(operation="implementations", inputs=target.inputs)
    gather = partial(_gather_implementations, service, target)
    return await service.page(request, arguments, gather, show_page("implementation"), _page_lines)


async def _gather_implementations(service: Service, target: Target) -> Gathered:
    reply = await service.ask(target.place.path, "textDocument/implementation", {"position": target.position})
    if isinstance(reply.value, list) and len(reply.value) > MAX_RAW_REFERENCES:
        raise _too_many()
    located = read_locations(reply.value, service.gate.filter())
    if len(located.items) > MAX_REFERENCES:
        raise _too_many()
    return Gathered(items=located.items, evidence=evidence_of([reply], outside=located.outside), facts={})


def _too_many() -> Refused:
    return Refused(fail("CAP_EXCEEDED", text="Implementations exceeded max total."))


def _page_lines(members: JsonObject, roots: Sequence[str]) -> list[str]:
    return location_lines(members["items"], roots)


async def hover(service: Service, arguments: JsonObject) -> Answer:
    """Signature, type and documentation of the symbol."""
    try:
        target = await find_target(service, arguments)
    except NotOneSymbol as exc:
        return service.presenter.answer(offer(exc, {"contents": []}), _hover_lines)
    request = Request(operation="hover", inputs=target.inputs)
    return await service.answer(request, partial(_find_hover, service, target), _hover_lines)


async def _find_hover(service: Service, target: Target) -> Found:
    reply = await service.ask(target.place.path, "textDocument/hover", {"position": target.position})
    found = read_hovers([reply.value])
    evidence = evidence_of([reply])
    if not found.contents:
        evidence = unresolved(evidence, target)
    place: JsonObject = {"range": found.place.as_json()} if found.place is not None else {}

    def made(contents: list[JsonObject]) -> Found:
        truncated = found.truncated or contents != found.contents
        summary = summaries.hover(available=bool(contents), truncated=truncated)
        members = {"contents": contents, **place, "summary": summary}
        return Found(members=members, evidence=evidence.but_capped(capped=truncated))

    fitting = fit_last(found.contents, lambda contents: service.presenter.fits(made(contents), _hover_lines))
    return made(found.contents if fitting is None else fitting)


def _hover_lines(members: JsonObject, _roots: Sequence[str]) -> list[str]:
    return [fragment["value"] for fragment in members["contents"]]

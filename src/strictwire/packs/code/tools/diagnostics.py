"""`diagnostics_document` and `diagnostics_workspace`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from strictwire.canon.json import JsonObject
from strictwire.contract.handler import Answer
from strictwire.fault.failure import Refused, fail
from strictwire.packs.code.answers import summaries
from strictwire.packs.code.answers.compact import diagnostic_lines
from strictwire.packs.code.answers.diagnostics import group_by_file, read_diagnostics, read_workspace_diagnostics
from strictwire.packs.code.found import Evidence, Found, evidence_of
from strictwire.packs.code.gate import Admitted
from strictwire.packs.code.limits import LIST_ITEMS, MAX_DIAGNOSTIC_FILES
from strictwire.packs.code.service import Gathered, Request, Service
from strictwire.packs.kit.paging import Page


async def diagnostics_document(service: Service, arguments: JsonObject) -> Answer:
    """What the engine reports about one document."""
    place = service.gate.admit(arguments["uri"])
    await service.documents.open(place)
    request = Request(operation="diagnostics_document", inputs=(place.uri,))
    return await service.answer(request, partial(_find, service, place), _document_lines)


async def _find(service: Service, place: Admitted) -> Found:
    reply = await service.ask(place.path, "textDocument/diagnostic", {})
    found = read_diagnostics(reply.value, place.uri)
    shown, capped = found[:LIST_ITEMS], len(found) > LIST_ITEMS
    summary = summaries.diagnostics(len(shown), capped=capped)
    members = {"uri": place.uri, "diagnostics": shown, "summary": summary}
    return Found(members=members, evidence=evidence_of([reply]).but_capped(capped=capped))


def _document_lines(members: JsonObject, roots: Sequence[str]) -> list[str]:
    return diagnostic_lines([members], roots) if members["diagnostics"] else []


async def diagnostics_workspace(service: Service, arguments: JsonObject) -> Answer:
    """What the engines report about every document; paged by file."""
    if not service.gate.roots:
        raise Refused(fail("WORKSPACE_DENIED"))
    request = Request(operation="diagnostics_workspace", inputs=())
    return await service.page(request, arguments, partial(_gather, service), _show, _page_lines)


def _show(page: Page, evidence: Evidence) -> Found:
    members = page.as_json()
    capped = page.facts["capped"] and any(len(each["diagnostics"]) == LIST_ITEMS for each in members["items"])
    summary = summaries.files(len(page.items), more=page.next_cursor is not None, capped=capped)
    return Found(members={**members, "summary": summary}, evidence=evidence)


def _page_lines(members: JsonObject, roots: Sequence[str]) -> list[str]:
    return diagnostic_lines(members["items"], roots)


async def _gather(service: Service) -> Gathered:
    replies = await service.ask_all("workspace/diagnostic", {"previousResultIds": []})
    inside = service.gate.filter()
    reports = [read_workspace_diagnostics(reply.value, inside) for reply in replies]
    groups, capped = group_by_file(reports, LIST_ITEMS)
    if len(groups) > MAX_DIAGNOSTIC_FILES:
        raise Refused(fail("CAP_EXCEEDED", text="Workspace diagnostics exceeded max total."))
    return Gathered(items=groups, evidence=evidence_of(replies).but_capped(capped=capped), facts={"capped": capped})

"""`documentSymbols` and `workspaceSymbols`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from strictwire.canon.json import JsonObject
from strictwire.contract.handler import Answer
from strictwire.fault.failure import Refused, fail
from strictwire.packs.code.answers import summaries
from strictwire.packs.code.answers.compact import document_symbol_lines, symbol_lines
from strictwire.packs.code.answers.symbols import read_document_symbols
from strictwire.packs.code.answers.workspace_symbols import read_workspace_symbols, with_id
from strictwire.packs.code.found import Evidence, Found, evidence_of
from strictwire.packs.code.gate import Admitted
from strictwire.packs.code.limits import LIST_ITEMS, MAX_SYMBOLS
from strictwire.packs.code.service import Gathered, Request, Service, show_page
from strictwire.packs.kit.paging import Page


async def document_symbols(service: Service, arguments: JsonObject) -> Answer:
    """The symbols of one document."""
    place = service.gate.admit(arguments["uri"])
    await service.documents.open(place)
    request = Request(operation="documentSymbols", inputs=(place.uri,))

    def lines(members: JsonObject, roots: Sequence[str]) -> list[str]:
        return document_symbol_lines(place.uri, members["symbols"], roots)

    return await service.answer(request, partial(_find, service, place), lines)


async def _find(service: Service, place: Admitted) -> Found:
    reply = await service.ask(place.path, "textDocument/documentSymbol", {})
    symbols = read_document_symbols(reply.value, place.uri)
    shown, capped = symbols[:LIST_ITEMS], len(symbols) > LIST_ITEMS
    summary = summaries.document_symbols(len(shown), capped=capped)
    return Found(members={"symbols": shown, "summary": summary}, evidence=evidence_of([reply]).but_capped(capped=capped))


async def workspace_symbols(service: Service, arguments: JsonObject) -> Answer:
    """The symbols of the workspace that fit a query; paged."""
    query = read_query(arguments["query"])
    if not service.gate.roots:
        raise Refused(fail("WORKSPACE_DENIED"))
    request = Request(operation="workspaceSymbols", inputs=(query,))
    return await service.page(request, arguments, partial(_gather, service, query), _show, _lines)


def _show(page: Page, evidence: Evidence) -> Found:
    items = tuple(with_id(symbol) for symbol in page.items if isinstance(symbol, dict))
    return show_page("workspace symbol")(replace(page, items=items), evidence)


def read_query(query: str) -> str:
    """A query without the white space around it. Raises Refused: INVALID_PARAMS, nothing is left."""
    trimmed = query.strip()
    if not trimmed:
        violation = {"path": "/query", "keyword": "pattern", "message": "query must not be blank"}
        raise Refused(fail("INVALID_PARAMS", details={"violations": [violation]}))
    return trimmed


def _lines(members: JsonObject, roots: Sequence[str]) -> list[str]:
    return symbol_lines(members["items"], roots)


async def _gather(service: Service, query: str) -> Gathered:
    replies = await service.ask_all("workspace/symbol", {"query": query})
    inside = service.gate.filter()
    symbols = read_workspace_symbols((reply.value for reply in replies), inside)
    if len(symbols) > MAX_SYMBOLS:
        raise Refused(fail("CAP_EXCEEDED", text="Workspace symbols exceeded max total."))
    return Gathered(items=symbols, evidence=evidence_of(replies), facts={})

"""The tools by name, in the order they are listed (A.1), and the handlers that answer them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Final, TypeAlias

from strictwire.canon.json import JsonObject, JsonValue
from strictwire.contract.handler import Answer, CallContext, Handler
from strictwire.packs.code.flight import time_limit
from strictwire.packs.code.heartbeat import heartbeat
from strictwire.packs.code.service import Service
from strictwire.packs.code.tools.callers import callers
from strictwire.packs.code.tools.diagnostics import diagnostics_document, diagnostics_workspace
from strictwire.packs.code.tools.navigation import definition, hover, implementations, type_definition
from strictwire.packs.code.tools.outline import outline
from strictwire.packs.code.tools.references import references
from strictwire.packs.code.tools.search import search
from strictwire.packs.code.tools.symbols import document_symbols, workspace_symbols

Tool: TypeAlias = Callable[[Service, JsonObject], Awaitable[Answer]]

REFERENCE: Final[Mapping[str, Tool]] = {
    "definition": definition,
    "references": references,
    "hover": hover,
    "documentSymbols": document_symbols,
    "workspaceSymbols": workspace_symbols,
    "diagnostics_document": diagnostics_document,
    "diagnostics_workspace": diagnostics_workspace,
}
"""The seven operations of the reference."""

OPERATIONS: Final[Mapping[str, Tool]] = {
    **REFERENCE,
    "callers": callers,
    "implementations": implementations,
    "type_definition": type_definition,
    "outline": outline,
    "search": search,
}
"""Every operation."""

CODE_TOOLS: Final = tuple(f"code_{name}" for name in OPERATIONS)
DROP_IN_TOOLS: Final = tuple(f"vscode_lsp_{name}" for name in REFERENCE)


def handlers_of(service: Service) -> Mapping[str, Handler]:
    """A handler for each tool that the settings ask for."""
    tools = REFERENCE if service.settings.drop_in else OPERATIONS
    return {service.prefix + name: _handler(service, tool) for name, tool in tools.items()}


def _handler(service: Service, tool: Tool) -> Handler:
    async def handle(arguments: JsonObject, call: CallContext) -> Answer:
        with heartbeat(call):
            async with time_limit(service.settings.timeout_seconds):
                return await tool(service, _with_integers(arguments))

    return handle


def _with_integers(arguments: JsonObject) -> JsonObject:
    """The same arguments with 1 for 1.0, which JSON Schema calls an integer. No tool takes a fraction."""
    return {name: _as_integer(value) for name, value in arguments.items()}


def _as_integer(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return _with_integers(value)
    return int(value) if isinstance(value, float) else value

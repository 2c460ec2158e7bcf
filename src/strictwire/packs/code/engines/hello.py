"""The `initialize` parameters of an LSP engine, and our answers to its requests. Pure.

Requests that would change a file are declined: engines only answer queries.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from strictwire.canon.json import JsonObject, JsonValue
from strictwire.packs.code.engines.spec import EngineSpec
from strictwire.packs.code.uri import render_file_uri

PROVIDERS: Final[Mapping[str, str]] = {
    "textDocument/definition": "definitionProvider",
    "textDocument/references": "referencesProvider",
    "textDocument/hover": "hoverProvider",
    "textDocument/documentSymbol": "documentSymbolProvider",
    "textDocument/implementation": "implementationProvider",
    "textDocument/typeDefinition": "typeDefinitionProvider",
    "textDocument/diagnostic": "diagnosticProvider",
    "textDocument/prepareCallHierarchy": "callHierarchyProvider",
    "callHierarchy/incomingCalls": "callHierarchyProvider",
    "callHierarchy/outgoingCalls": "callHierarchyProvider",
    "workspace/symbol": "workspaceSymbolProvider",
}
"""Method to the capability that an engine must have declared."""

_CAPABILITIES: Final[JsonObject] = {
    # Engines that are offered UTF-8 take it; positions of the tools are UTF-16.
    "general": {"positionEncodings": ["utf-16"]},
    "window": {"workDoneProgress": True},
    "workspace": {
        "configuration": True,
        "workspaceFolders": True,
        "didChangeWatchedFiles": {"dynamicRegistration": True},
        "symbol": {"symbolKind": {"valueSet": list(range(1, 27))}},
        "diagnostics": {"refreshSupport": True},
    },
    "textDocument": {
        "synchronization": {"dynamicRegistration": False},
        "definition": {"linkSupport": True},
        "typeDefinition": {"linkSupport": True},
        "implementation": {"linkSupport": True},
        "references": {},
        "hover": {"contentFormat": ["markdown", "plaintext"]},
        "documentSymbol": {
            "hierarchicalDocumentSymbolSupport": True,
            "symbolKind": {"valueSet": list(range(1, 27))},
        },
        "publishDiagnostics": {"versionSupport": True},
        "diagnostic": {},
        "callHierarchy": {},
    },
}


def initialize_params(spec: EngineSpec, root: Path) -> JsonObject:
    """The params of `initialize`."""
    uri = render_file_uri(root)
    return {
        "processId": os.getpid(),
        "clientInfo": {"name": "strictwire"},
        "rootUri": uri,
        "rootPath": str(root),
        "workspaceFolders": [{"uri": uri, "name": root.name}],
        "capabilities": _CAPABILITIES,
        "initializationOptions": dict(spec.initialization),
    }


def answers(spec: EngineSpec, root: Path) -> dict[str, Callable[[JsonObject], JsonValue]]:
    """Method to the answer, for everything an engine may ask."""
    folders: JsonValue = [{"uri": render_file_uri(root), "name": root.name}]
    quiet = (
        *("client/registerCapability", "client/unregisterCapability", "window/workDoneProgress/create"),
        *("window/showMessageRequest", "workspace/diagnostic/refresh", "workspace/semanticTokens/refresh"),
        *("workspace/inlayHint/refresh", "workspace/codeLens/refresh", "workspace/foldingRange/refresh"),
    )
    return dict.fromkeys(quiet, _nothing) | {
        "workspace/configuration": lambda params: _configuration(spec, params),
        "workspace/workspaceFolders": lambda _params: folders,
        "workspace/applyEdit": lambda _params: {"applied": False},
        "window/showDocument": lambda _params: {"success": False},
    }


def _nothing(_params: JsonObject) -> JsonValue:
    return None


def _configuration(spec: EngineSpec, params: JsonObject) -> JsonValue:
    items = params.get("items")
    asked = [each.get("section") if isinstance(each, dict) else None for each in items] if isinstance(items, list) else []
    return [spec.settings.get(str(section)) for section in asked]

"""The dialects by their public names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, TypeAlias

from strictwire.canon.json import JsonObject
from strictwire.fault.dialects import canonical, editor_v01, http, mcp, mcp_v1, resolve_v0, system_v1
from strictwire.fault.failure import Facts, Failure

Render: TypeAlias = Callable[[Failure, Facts], JsonObject]

PROTOCOL: Final = "mcp protocol"
"""MCP protocol errors; not a dialect that a tool can declare."""

HTTP: Final = "http"
"""Problem details, for failures before a JSON-RPC message exists."""

DIALECTS: Final[Mapping[str, Render]] = MappingProxyType(
    {
        PROTOCOL: mcp.render_error,
        "mcp": mcp.render,
        "mcp/v1": mcp_v1.render,
        "resolve/v0": resolve_v0.render,
        "system/1.0": system_v1.render,
        "canonical": canonical.render,
        "editor/0.1": editor_v01.render,
        HTTP: http.render,
    }
)
"""Each dialect and the function that renders a failure as JSON. `terminal` renders text and is not one of them."""

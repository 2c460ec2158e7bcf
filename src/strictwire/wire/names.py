"""Names that MCP reserves: members of `_meta`, HTTP headers (in lower case), log levels."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

META_VERSION: Final = "io.modelcontextprotocol/protocolVersion"
META_CAPABILITIES: Final = "io.modelcontextprotocol/clientCapabilities"
META_CLIENT: Final = "io.modelcontextprotocol/clientInfo"
META_LOG_LEVEL: Final = "io.modelcontextprotocol/logLevel"
META_SERVER: Final = "io.modelcontextprotocol/serverInfo"
META_SUBSCRIPTION: Final = "io.modelcontextprotocol/subscriptionId"

VERSION_HEADER: Final = "mcp-protocol-version"
SESSION_HEADER: Final = "mcp-session-id"

NAMED_BY: Final[Mapping[str, str]] = MappingProxyType(
    {
        "tools/call": "name",
        "prompts/get": "name",
        "resources/read": "uri",
        "tasks/get": "taskId",
        "tasks/update": "taskId",
        "tasks/cancel": "taskId",
    }
)
"""The parameter that the header Mcp-Name repeats."""

LEVELS: Final[Mapping[str, int]] = MappingProxyType(
    {
        name: rank
        for rank, name in enumerate(("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"))
    }
)
"""Log levels, least severe first."""

"""CORS headers: which browser pages may read a response. Which pages may call at all is decided in `gatekeeper`."""

from __future__ import annotations

import re
from typing import Final, TypeAlias

from strictwire.profiles.endpoint import Headers

HeaderFields: TypeAlias = tuple[tuple[str, str], ...]

_ALLOWED: Final = (
    "Authorization",
    "Content-Type",
    "Accept",
    "Last-Event-ID",
    "Mcp-Session-Id",
    "MCP-Protocol-Version",
    "Mcp-Method",
    "Mcp-Name",
)
"""Headers that a page may send."""

_ARGUMENT: Final = re.compile(r"mcp-param-[a-z0-9!#$%&'*+.^_`|~-]+", re.IGNORECASE)
"""Headers that repeat tool arguments. Tools choose their names, so a preflight lists those that it asks about."""


def preflight_headers(headers: Headers) -> HeaderFields:
    """The answer to OPTIONS: which methods and headers a page may send."""
    asked = (name.strip() for name in (headers.get("access-control-request-headers") or "").split(","))
    return (
        ("Access-Control-Allow-Methods", "GET, POST, DELETE, OPTIONS"),
        ("Access-Control-Allow-Headers", ", ".join((*_ALLOWED, *filter(_ARGUMENT.fullmatch, asked)))),
        ("Access-Control-Max-Age", "600"),
    )


def response_headers(headers: Headers) -> HeaderFields:
    """Lets the page that made an admitted request read the response. Empty for a client that is no browser."""
    origin = headers.get("origin")
    if origin is None:
        return ()
    return (
        ("Access-Control-Allow-Origin", origin),
        ("Access-Control-Expose-Headers", "Mcp-Session-Id"),
        ("Vary", "Origin"),
    )

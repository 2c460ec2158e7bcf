"""What a browser must be told before it lets a page call us or read our answers. Who may call is decided elsewhere."""

from __future__ import annotations

import re
from typing import Final

from strictwire.profiles.endpoint import Headers

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
"""Headers that repeat arguments have names of the tools' choosing; a browser wants each of them by name."""


def leave(headers: Headers) -> tuple[tuple[str, str], ...]:
    """The answer to OPTIONS: what may be sent."""
    asked = (name.strip() for name in (headers.get("access-control-request-headers") or "").split(","))
    return (
        ("Access-Control-Allow-Methods", "GET, POST, DELETE, OPTIONS"),
        ("Access-Control-Allow-Headers", ", ".join((*_ALLOWED, *filter(_ARGUMENT.fullmatch, asked)))),
        ("Access-Control-Max-Age", "600"),
    )


def shown_to(headers: Headers) -> bytes:
    """Header lines for an answer: a page sees it only if its origin is named. Nothing for a client that is no browser."""
    origin = headers.get("origin")
    if origin is None:
        return b""
    return b"Access-Control-Allow-Origin: %b\r\nAccess-Control-Expose-Headers: Mcp-Session-Id\r\nVary: Origin\r\n" % (
        origin.encode("latin-1")
    )

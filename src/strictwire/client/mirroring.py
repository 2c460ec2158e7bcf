"""Headers that repeat arguments of a tool (`x-mcp-header`, 2026-07-28 over HTTP)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from strictwire.canon.json import JsonObject
from strictwire.client.message import header_value
from strictwire.profiles.mcp.header_echo import Mirrored, argument_at

PARAM_PREFIX: Final = "mcp-param-"
"""Start of the names of these headers, in lower case: names of headers have no case."""


def argument_headers(mirrored: Iterable[Mirrored], arguments: JsonObject) -> dict[str, str]:
    """The headers for a call. `profiles.mcp.header_echo.mirrored_arguments` reads `mirrored` from the input schema."""
    headers: dict[str, str] = {}
    for each in mirrored:
        argument = argument_at(arguments, each.path)
        if isinstance(argument, bool):
            headers[PARAM_PREFIX + each.header.lower()] = "true" if argument else "false"
        elif isinstance(argument, str | int):
            headers[PARAM_PREFIX + each.header.lower()] = header_value(str(argument))
    return headers

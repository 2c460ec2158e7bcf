"""A small server for the tests of the command line."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from strictwire import NotFound, Server

server = Server("shop", version="1.2.3", instructions="Prices are in cents.")


@server.tool(safety="read-only", raises=[NotFound])
def price_of(item: str, count: Annotated[int, Meta(ge=1)] = 1) -> int:
    """Looks up a price."""
    if item == "unicorn":
        raise NotFound(item)
    return 250 * count


@server.tool
def broken() -> int:
    """Fails."""
    secret_divisor = 0
    return 1 // secret_divisor


@server.tool(safety="read-only")
def lie() -> dict[str, int]:
    """Breaks its own contract."""
    return {"a": "text"}  # type: ignore[dict-item]


@server.resource("shop://{item}")
def item_page(item: str) -> str:
    """One item."""
    return item


@server.prompt
def advertise(item: str, words: int = 10) -> str:
    """Asks for an advertisement."""
    return f"Advertise {item} in {words} words."

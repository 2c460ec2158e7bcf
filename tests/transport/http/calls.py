"""Calls of the hard server over HTTP."""

from __future__ import annotations

from typing import Any

from tests.fixtures.live import HttpProcess, modern, modern_headers, request


def call(request_id: object, name: str, /, **arguments: Any) -> bytes:
    """A call of a tool."""
    return modern(request_id, "tools/call", {"name": name, "arguments": arguments})


def wired(body: bytes, port: int, **headers: str) -> bytes:
    """A modern request with its headers, as bytes of HTTP."""
    return request(body, modern_headers(body, **headers), port=port)


def value_of(answer: dict[str, Any]) -> Any:
    """What a tool returned."""
    return answer["result"]["structuredContent"]["result"]


def happened(http: HttpProcess, words: str) -> bool:
    """Whether the tools of a server have written these words into its story."""
    return words in value_of(http.ask(call(1, "story")).json())


ADD = call(7, "add", a=1, b=2)

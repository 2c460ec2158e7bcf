"""Drives a guard in memory, with a real process behind it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from strictwire.canon.json import parse_object
from strictwire.gateway.links.connector import UpstreamTarget
from strictwire.gateway.options import RelayOptions
from strictwire.pipeline.call import Caller
from strictwire.profiles.endpoint import Headers, Inbound, Reply
from strictwire.profiles.mcp.endpoint import McpEndpoint
from strictwire.server.guard import Guarding, open_guard
from strictwire.server.guarded import Guarded
from strictwire.settings.model import Settings
from strictwire.stores.memory.recorder import MemoryRecorder
from strictwire.transport.memory import ask_endpoint
from tests.fixtures.guards import PYTHON
from tests.fixtures.live import initialize, legacy, modern

FAKE = Path(__file__).parent.parent / "fixtures" / "fake_upstream.py"
PATIENCE = 30.0
"""Seconds that anything may take before a test gives up."""

SHORT = RelayOptions(idle_seconds=3.0, total_seconds=10.0, liveness_seconds=0.5)
"""Options that time out quickly."""


class CollectingOutlet:
    """An outlet that collects messages."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []
        self.arrived = asyncio.Event()

    def open(self) -> None:
        """Nothing to open."""

    def send(self, message: bytes, *, event_id: str | None = None, retry_ms: int | None = None) -> bool:
        """Keep a message."""
        if message:
            self.messages.append(parse_object(message))
            self.arrived.set()
        return True

    def close(self) -> None:
        """Nothing to close."""


class Client:
    """A client of a guard: over stdio, or over HTTP where headers are given."""

    def __init__(self, endpoint: McpEndpoint, recorder: MemoryRecorder) -> None:
        self.endpoint = endpoint
        self.recorder = recorder
        self.heard = CollectingOutlet()

    async def send(self, raw: bytes, headers: dict[str, str] | None = None) -> Reply:
        """One message, and what is answered."""
        pairs = None if headers is None else Headers(headers.items())
        inbound = Inbound(body=raw, transport="memory", caller=Caller(), headers=pairs)
        async with asyncio.timeout(PATIENCE):
            return await ask_endpoint(self.endpoint, inbound, self.heard)

    async def ask(self, raw: bytes) -> dict[str, Any]:
        """One request, and its answer."""
        reply = await self.send(raw)
        assert reply.body is not None
        return parse_object(reply.body)

    async def open_session(self, capabilities: dict[str, Any] | None = None) -> dict[str, Any]:
        """A legacy session."""
        opened = await self.ask(initialize(capabilities=capabilities))
        await self.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
        return opened

    async def act(self, era: str = "modern", request_id: object = "r", **meta: Any) -> dict[str, Any]:
        """Call the tool of the fake upstream."""
        params = {"name": "act", "arguments": {"x": 1}}
        if era == "modern":
            return await self.ask(modern(request_id, "tools/call", params, **meta))
        return await self.ask(legacy(request_id, "tools/call", {**params, "_meta": meta}))


def fake(name: str, marker: Path | None = None) -> UpstreamTarget:
    """The fake upstream with this behaviour."""
    return UpstreamTarget(command=(PYTHON, "-S", str(FAKE), name, *([str(marker)] if marker else [])))


@asynccontextmanager
async def guarded(target: UpstreamTarget, options: RelayOptions = SHORT) -> AsyncIterator[Client]:
    """A client of a guard in front of the target."""
    recorder = MemoryRecorder()
    async with open_guard(
        Guarding(upstreams=(Guarded(target=target, options=options),)), Settings(), recorder=recorder
    ) as endpoint:
        yield Client(endpoint, recorder)


def outcome(answer: dict[str, Any]) -> object:
    """The outcome of an answer in short: structured content, the guard's failure code, or the upstream's error code."""
    if "error" in answer:
        data = answer["error"].get("data")
        return data["code"] if isinstance(data, dict) and "code" in data else answer["error"]["code"]
    result = answer["result"]
    envelope = result.get("structuredContent")
    if envelope is None and result.get("isError"):
        text = result["content"][0]["text"]
        envelope = parse_object(text.encode()) if text.startswith("{") else text
    if isinstance(envelope, dict) and "error" in envelope:
        return envelope["error"]["code"]
    return envelope

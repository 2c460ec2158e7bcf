"""Drives a guard in memory with several real processes behind it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from strictwire.canon.json import parse
from strictwire.gateway.naming import Naming
from strictwire.gateway.policy import Statutes
from strictwire.gateway.terms import Terms
from strictwire.gateway.upstream import Target
from strictwire.pipeline.call import Caller
from strictwire.server.guard import Guarding, open_guard
from strictwire.server.guarded import Guarded
from strictwire.settings.model import Settings
from strictwire.stores.memory.recorder import MemoryRecorder
from tests.fixtures.guards import PYTHON
from tests.fixtures.live import legacy, modern
from tests.gateway.driving import SHORT, Client

CROWD = Path(__file__).parent.parent / "fixtures" / "crowd_upstream.py"


def one(name: str, *, prefix: str = "", terms: Terms = SHORT, rename: dict[str, str] | None = None, **offer: Any) -> Guarded:
    """One upstream of that name, offering that."""
    command = (PYTHON, "-S", str(CROWD), name, json.dumps(offer))
    return Guarded(target=Target(name=name, command=command), terms=terms, naming=Naming(prefix=prefix, rename=rename or {}))


@asynccontextmanager
async def crowd(*upstreams: Guarded, statutes: Statutes | None = None) -> AsyncIterator[Client]:
    """A client of a guard in front of all of them."""
    recorder = MemoryRecorder()
    guarding = Guarding(upstreams=upstreams, statutes=statutes or Statutes())
    async with open_guard(guarding, Settings(), recorder=recorder) as endpoint:
        yield Client(endpoint, recorder)


class Talker:
    """Asks in one era."""

    def __init__(self, client: Client, era: str) -> None:
        self.client = client
        self._era = era
        self._count = 0
        self.opened: dict[str, Any] = {}

    async def open(self, **capabilities: Any) -> Talker:
        """Open a session where the era has one."""
        if self._era == "legacy":
            self.opened = (await self.client.open_session(capabilities))["result"]
        else:
            self.opened = await self.ask("server/discover")
        return self

    async def reply(self, method: str, **params: Any) -> dict[str, Any]:
        """The whole answer."""
        self._count += 1
        make = modern if self._era == "modern" else legacy
        return await self.client.ask(make(self._count, method, params))

    async def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """The result; it must be one."""
        answer = await self.reply(method, **params)
        assert "result" in answer, answer
        return answer["result"]  # type: ignore[no-any-return]

    async def call(self, tool: str, **arguments: Any) -> Any:
        """What a tool of the fixture answers."""
        result = await self.ask("tools/call", name=tool, arguments=arguments)
        return parse(result["content"][0]["text"].encode())

    async def names(self, method: str = "tools/list") -> list[str]:
        """The keys of a list."""
        result = await self.ask(method)
        entries = next(value for value in result.values() if isinstance(value, list))
        return [entry.get("name") or entry["uri"] for entry in entries]


def caller(**members: Any) -> Caller:
    """Somebody."""
    return Caller(**members)

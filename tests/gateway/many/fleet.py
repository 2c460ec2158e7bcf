"""Drives a guard in memory with several real processes behind it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from strictwire.canon.json import parse
from strictwire.gateway.links.connector import UpstreamTarget
from strictwire.gateway.many.naming import Naming
from strictwire.gateway.options import RelayOptions
from strictwire.gateway.policy.guard_policy import PolicyRules
from strictwire.pipeline.call import Caller
from strictwire.server.guard import Guarding, open_guard
from strictwire.server.guarded import Guarded
from strictwire.settings.model import Settings
from strictwire.stores.memory.recorder import MemoryRecorder
from tests.fixtures.guards import PYTHON
from tests.fixtures.live import legacy, modern
from tests.gateway.driver import SHORT, Client

CROWD = Path(__file__).parents[2] / "fixtures" / "crowd_upstream.py"


def one(
    name: str, *, prefix: str = "", options: RelayOptions = SHORT, rename: dict[str, str] | None = None, **offer: Any
) -> Guarded:
    """One upstream of that name, with these offers."""
    command = (PYTHON, "-S", str(CROWD), name, json.dumps(offer))
    return Guarded(
        target=UpstreamTarget(name=name, command=command), options=options, naming=Naming(prefix=prefix, rename=rename or {})
    )


@asynccontextmanager
async def fleet(*upstreams: Guarded, policy: PolicyRules | None = None) -> AsyncIterator[Client]:
    """A client of a guard in front of all of them."""
    recorder = MemoryRecorder()
    guarding = Guarding(upstreams=upstreams, policy=policy or PolicyRules())
    async with open_guard(guarding, Settings(), recorder=recorder) as endpoint:
        yield Client(endpoint, recorder)


class Talker:
    """Sends requests in one era."""

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
        """The answer of a tool of the fixture."""
        result = await self.ask("tools/call", name=tool, arguments=arguments)
        return parse(result["content"][0]["text"].encode())

    async def names(self, method: str = "tools/list") -> list[str]:
        """The keys of a list."""
        result = await self.ask(method)
        entries = next(value for value in result.values() if isinstance(value, list))
        return [entry.get("name") or entry["uri"] for entry in entries]


def caller(**members: Any) -> Caller:
    """A caller with these members."""
    return Caller(**members)

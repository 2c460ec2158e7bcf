"""Tools by patterns of their names: what is denied is neither shown nor called."""

from __future__ import annotations

import asyncio

import pytest

from strictwire.gateway.policy import ToolPolicy
from strictwire.server.guard import Guarding, open_guard
from strictwire.settings.model import Settings
from strictwire.stores.memory import MemoryRecorder
from tests.fixtures.live import modern
from tests.gateway.driving import Client, fake, outcome


@pytest.mark.parametrize(
    ("allow", "deny", "permitted"),
    [
        ((), (), ["read", "write", "delete_all"]),
        (("read",), (), ["read"]),
        ((), ("delete_*",), ["read", "write"]),
        (("*",), ("*e",), ["read", "delete_all"]),
        (("READ",), (), []),
    ],
)
def test_denied_wins_and_names_are_compared_exactly(
    allow: tuple[str, ...], deny: tuple[str, ...], permitted: list[str]
) -> None:
    policy = ToolPolicy(allow=allow, deny=deny)

    assert [name for name in ("read", "write", "delete_all") if policy.permits(name)] == permitted


def test_a_policy_is_named_by_what_it_says() -> None:
    versions = {ToolPolicy(allow=("a",)).version, ToolPolicy(deny=("a",)).version, ToolPolicy().version}

    assert len(versions) == 3
    assert ToolPolicy(allow=("a",)).version == ToolPolicy(allow=("a",)).version


def test_a_denied_tool_is_neither_shown_nor_called() -> None:
    async def run() -> tuple[list[str], list[object]]:
        guarding = Guarding(target=fake("two_tools"), policy=ToolPolicy(deny=("al*",)))
        async with open_guard(guarding, Settings(), recorder=MemoryRecorder()) as endpoint:
            client = Client(endpoint, MemoryRecorder())
            listed = await client.ask(modern(1, "tools/list"))
            calls = [modern(name, "tools/call", {"name": name, "arguments": {"x": 1}}) for name in ("act", "also")]
            answers = [outcome(await client.ask(call)) for call in calls]
            return [tool["name"] for tool in listed["result"]["tools"]], answers

    assert asyncio.run(run()) == (["act"], [{"y": 1}, "PERMISSION_DENIED"])

"""A tool that differs from its pin is quarantined: neither listed nor called. Other tools are not affected."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Any

import pytest

from strictwire.canon.json import parse_object
from strictwire.server.guard import Guarding, open_guard
from strictwire.server.guarded import Guarded
from strictwire.server.run import StartRefused
from strictwire.settings.model import Settings
from strictwire.stores.memory.recorder import MemoryRecorder
from tests.fixtures.live import legacy, modern
from tests.gateway.driver import Client, fake, outcome


def use(name: str, lock: Path, *, era: str = "modern", trust: bool = False) -> tuple[list[str], list[object]]:
    """The names that a guard with this lock file shows, and what calls of two tools are answered."""

    async def run() -> tuple[list[str], list[object]]:
        guarding = Guarding(upstreams=(Guarded(target=fake(name), lock=lock, trust_on_first_use=trust),))
        async with open_guard(guarding, Settings(), recorder=MemoryRecorder()) as endpoint:
            client = Client(endpoint, MemoryRecorder())
            if era == "legacy":
                await client.open_session()
            listed = await client.ask(_spoken(era, 1, "tools/list", {}))
            calls = [_spoken(era, each, "tools/call", {"name": each, "arguments": {"x": 1}}) for each in ("act", "also")]
            answers = [outcome(await client.ask(call)) for call in calls]
            return [tool["name"] for tool in listed["result"]["tools"]], answers

    return asyncio.run(run())


def _spoken(era: str, number: object, method: str, params: dict[str, Any]) -> bytes:
    return modern(number, method, params) if era == "modern" else legacy(number, method, params)


@pytest.mark.parametrize("era", ["modern", "legacy"])
def test_a_changed_tool_is_neither_listed_nor_called_and_the_others_are(era: str, tmp_path: Path) -> None:
    lock = tmp_path / "strictwire.lock"
    first = use("two_tools", lock, era=era, trust=True)
    unchanged = use("two_tools", lock, era=era)
    changed = use("two_tools_changed", lock, era=era)

    assert first == (["act", "also"], [{"y": 1}, {"y": 1}])
    assert unchanged == first
    assert changed == (["also"], ["CONTRACT_CHANGED", {"y": 1}])


def test_a_tool_that_was_never_pinned_is_quarantined(tmp_path: Path) -> None:
    lock = tmp_path / "strictwire.lock"
    use("good", lock, trust=True)

    assert use("two_tools", lock) == (["act"], [{"y": 1}, "CONTRACT_CHANGED"])


def test_the_change_and_what_it_breaks_are_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    lock = tmp_path / "strictwire.lock"
    use("two_tools", lock, trust=True)
    caplog.clear()
    use("two_tools_changed", lock)
    guard = [record for record in caplog.records if record.name == "strictwire.guard"]
    told = [record.getMessage() for record in guard if record.levelno >= logging.WARNING]

    assert told[0] == "tool act is in quarantine: ['description', 'input']"
    assert any(each.startswith("tool act compared with its pin: ") and "nothing" not in each for each in told[1:])


def test_trust_on_first_use_writes_the_first_list_to_the_lock_file(tmp_path: Path) -> None:
    lock = tmp_path / "strictwire.lock"
    use("two_tools", lock, trust=True)

    assert sorted(parse_object(lock.read_bytes())["tools"]) == ["act", "also"]


def test_without_its_lock_file_a_guard_does_not_start(tmp_path: Path) -> None:
    async def run() -> None:
        guarding = Guarding(upstreams=(Guarded(target=fake("good"), lock=tmp_path / "none.lock"),))
        async with open_guard(guarding, Settings(), recorder=MemoryRecorder()):
            pass

    with pytest.raises(StartRefused, match="strictwire pin"):
        asyncio.run(run())

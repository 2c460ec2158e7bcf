"""Progress of long calls."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, cast

from tests.packs.code.desk import Desk, at, run_desk
from tests.packs.code.test_service import GatedEngines

from strictwire.contract.handler import CallContext
from strictwire.packs.code import catalogue
from strictwire.packs.code.heartbeat import heartbeat


class Heard:
    """A call that keeps what is reported."""

    def __init__(self, enough: int) -> None:
        self.beats: list[tuple[float, float | None, str | None]] = []
        self.enough = asyncio.Event()
        self._wanted = enough

    def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        self.beats.append((progress, total, message))
        if len(self.beats) == self._wanted:
            self.enough.set()


def test_progress_rises_while_the_block_runs_and_stops_with_it() -> None:
    async def main() -> tuple[list[Any], int]:
        heard, later = Heard(3), Heard(3)
        with heartbeat(cast("CallContext", heard), interval=0.01):
            await asyncio.wait_for(heard.enough.wait(), 60)
        count = len(heard.beats)
        with heartbeat(cast("CallContext", later), interval=0.01):
            await asyncio.wait_for(later.enough.wait(), 60)
        return heard.beats[:3], len(heard.beats) - count

    beats, after = asyncio.run(main())

    assert [round(done, 2) for done, _, _ in beats] == [0.01, 0.02, 0.03]
    assert {(total, message) for _, total, message in beats} == {(None, "Waiting for the engine")}
    assert after == 0


def test_a_client_that_asks_for_progress_hears_of_a_slow_engine(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(catalogue, "heartbeat", lambda call: heartbeat(call, interval=0.01))
    engines = GatedEngines({"textDocument/definition": [at(tmp_path / "a.py", 0, 4, 8)]})

    async def story(desk: Desk) -> list[str]:
        asyncio.get_running_loop().call_later(0.1, engines.gate.set)
        where = desk.at("b.py", 2, 6)
        await desk.client.call_tool("code_definition", where, _meta={"progressToken": "p"})
        return [each["method"] for each in desk.client.notifications]

    assert set(run_desk(tmp_path, {}, story, engines=engines)) == {"notifications/progress"}

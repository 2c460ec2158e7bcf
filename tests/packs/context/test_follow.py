"""build --watch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.packs.context.caches import write_sources

from strictwire.packs.context import follow as follow_module
from strictwire.packs.context.build import Built, Order
from strictwire.packs.context.follow import TreeEvents, TreeLooks, follow
from strictwire.packs.context.ingest import NotBuilt
from strictwire.packs.context.inspection import find_violations

LATER = datetime.now(UTC) + timedelta(days=1)


class Script:
    """Changes that are made when the loop waits for them."""

    def __init__(self, steps: list[Callable[[], object]]) -> None:
        self._steps: Iterator[Callable[[], object]] = iter(steps)
        self.armed = 0

    def arm(self) -> None:
        self.armed += 1

    def wait(self) -> bool:
        step = next(self._steps, None)
        if step is not None:
            step()
        return step is not None


def test_each_change_builds_again_and_a_failure_keeps_the_last_cache(tmp_path: Path) -> None:
    sources = write_sources(tmp_path / "sources", {"a.md": "alpha"})
    reports: list[Built | NotBuilt] = []
    changes = Script(
        [
            lambda: (sources / "b.md").write_text("beta"),
            lambda: (sources / "c.md").write_bytes(b"\xff"),
            lambda: (sources / "c.md").unlink(),
        ]
    )
    follow(Order(sources=sources, output=tmp_path / "cache"), changes=changes, now=lambda: LATER, report=reports.append)

    assert [
        (each.document_count, each.reused, each.replaced) if isinstance(each, Built) else each.failure.code
        for each in reports
    ] == [(1, 0, True), (2, 1, True), "INTERNAL", (2, 2, False)]
    assert changes.armed == 4
    assert find_violations(tmp_path / "cache") == []


def test_a_first_build_that_fails_ends_it(tmp_path: Path) -> None:
    with pytest.raises(NotBuilt):
        follow(
            Order(sources=tmp_path / "absent", output=tmp_path / "cache"),
            changes=Script([]),
            now=lambda: LATER,
            report=lambda _report: None,
        )


def test_the_kernel_tells_of_changes_in_every_folder_old_and_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follow_module, "QUIET_SECONDS", 0.01)
    write_sources(tmp_path, {"deep/er/a.md": "alpha"})
    events = TreeEvents(tmp_path)
    events.arm()
    write_sources(tmp_path, {"deep/er/a.md": "changed"})

    assert events.wait()

    write_sources(tmp_path, {"new/b.md": "beta"})
    events.arm()
    write_sources(tmp_path, {"new/b.md": "changed"})

    assert events.wait()

    events.close()


def test_a_quiet_tree_stops_when_it_is_told_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follow_module, "POLL_SECONDS", 0.01)
    events = TreeEvents(tmp_path, stop=lambda: True)
    events.arm()

    assert not events.wait()

    events.close()


def test_without_a_kernel_queue_the_tree_is_looked_at(tmp_path: Path) -> None:
    write_sources(tmp_path, {"a.md": "alpha"})
    steps = iter([lambda: None, lambda: write_sources(tmp_path, {"b.md": "beta"})])
    looks = TreeLooks(tmp_path, pause=lambda _seconds: (next(steps)(), True)[1])
    looks.arm()

    assert looks.wait()
    assert next(steps, None) is None

    assert not TreeLooks(tmp_path, pause=lambda _seconds: False).wait()

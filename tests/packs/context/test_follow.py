"""build --watch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.packs.context.caches import write_sources

from strictwire.packs.context import follow as follow_module
from strictwire.packs.context.build import Built, Order
from strictwire.packs.context.follow import TreeChanges, follow
from strictwire.packs.context.ingest import NotBuilt
from strictwire.packs.context.inspection import find_violations
from strictwire.packs.kit.watch import Watch

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


@pytest.mark.parametrize("kernel", [True, False])
def test_changes_in_every_folder_old_and_new_wake_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kernel: bool) -> None:
    monkeypatch.setattr(follow_module, "QUIET_SECONDS", 0.01)
    monkeypatch.setattr(follow_module, "POLL_SECONDS", 0.01)
    write_sources(tmp_path, {"deep/er/a.md": "alpha"})
    changes = TreeChanges(tmp_path, watch=Watch(kernel=kernel))
    changes.arm()
    write_sources(tmp_path, {"deep/er/a.md": "changed"})

    assert changes.wait()

    write_sources(tmp_path, {"new/b.md": "beta"})
    changes.arm()
    write_sources(tmp_path, {"new/b.md": "changed"})

    assert changes.wait()

    changes.close()


@pytest.mark.parametrize("kernel", [True, False])
def test_a_quiet_tree_stops_when_it_is_told_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kernel: bool) -> None:
    monkeypatch.setattr(follow_module, "POLL_SECONDS", 0.01)
    changes = TreeChanges(tmp_path, watch=Watch(kernel=kernel), stop=lambda: True)
    changes.arm()

    assert not changes.wait()

    changes.close()

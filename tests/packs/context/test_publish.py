"""What is published is on disk (the durable part of publishing; moving is tested with `build`)."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.packs.context.caches import write_sources

from strictwire.packs.context import publish
from strictwire.packs.context.build import Order, build
from strictwire.packs.context.ingest import NotBuilt
from strictwire.packs.context.publish import begin_durable, make_durable

LATER = datetime.now(UTC) + timedelta(days=1)


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files made durable one by one, as where there is no call for a whole file system."""
    names: list[str] = []
    real = publish._sync
    monkeypatch.setattr(publish, "_sync_file_system", lambda _place: False)
    monkeypatch.setattr(publish, "_sync", lambda path: (names.append(path.name), real(path))[1])
    return names


def test_without_a_call_for_the_file_system_each_file_and_folder_is_made_durable(tmp_path: Path, synced: list[str]) -> None:
    place = write_sources(tmp_path / "place", {"a": "alpha", "documents/b": "beta"})
    make_durable(place)

    assert sorted(synced) == ["a", "b", "documents", "place"]


def test_a_first_call_that_failed_is_not_forgotten_because_a_second_one_may_be_well(
    tmp_path: Path, synced: list[str]
) -> None:
    """The kernel tells an error of the disk once to each who asks."""
    place = write_sources(tmp_path / "place", {"documents/b": "beta"})
    with begin_durable(place):
        assert synced == []

    assert sorted(synced) == ["b", "documents", "place"]


def test_a_block_that_fails_beside_the_disk_fails_as_it_is_and_leaves_no_thread(tmp_path: Path) -> None:
    before = threading.active_count()
    with pytest.raises(NotBuilt), begin_durable(tmp_path):
        raise NotBuilt("INTERNAL", "two files have the same content")

    assert threading.active_count() == before


def test_the_manifest_is_durable_before_it_is_published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_sources(tmp_path / "sources", {"a.md": "alpha"})
    seen: list[object] = []
    real = publish._sync_file_system

    def sync(place: Path) -> bool:
        seen.append(sorted(path.name for path in place.iterdir()))
        return real(place)

    monkeypatch.setattr(publish, "_sync_file_system", sync)
    order = Order(sources=tmp_path / "sources", output=tmp_path / "cache", force=True)
    first = build(order, now=lambda: LATER)

    assert seen[-1] == ["documents", "index.json", "manifest.json"]

    seen.clear()
    build(order, now=lambda: LATER, earlier=first)

    assert seen == [], "an unchanged tree asks nothing of the disk"

"""A published cache is synced to disk. Moving it into place is tested with `build`."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.packs.context.caches import write_sources

from strictwire.packs.context import publish
from strictwire.packs.context.build import Order, build
from strictwire.packs.context.ingest import NotBuilt
from strictwire.packs.context.publish import start_sync, sync_tree

LATER = datetime.now(UTC) + timedelta(days=1)


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Record the files that are synced one by one, as on a system without syncfs."""
    names: list[str] = []
    real = publish._sync
    monkeypatch.setattr(publish, "_sync_file_system", lambda _place: False)
    monkeypatch.setattr(publish, "_sync", lambda path: (names.append(path.name), real(path))[1])
    return names


def test_without_syncfs_each_file_and_folder_is_synced(tmp_path: Path, synced: list[str]) -> None:
    place = write_sources(tmp_path / "place", {"a": "alpha", "documents/b": "beta"})
    sync_tree(place)

    assert sorted(synced) == ["a", "b", "documents", "place"]


def test_a_failed_background_sync_is_not_hidden_by_a_later_success(tmp_path: Path, synced: list[str]) -> None:
    """The kernel reports a disk error only once per open file."""
    place = write_sources(tmp_path / "place", {"documents/b": "beta"})
    with start_sync(place):
        assert synced == []

    assert sorted(synced) == ["b", "documents", "place"]


def test_an_exception_during_the_background_sync_is_raised_and_leaves_no_thread(tmp_path: Path) -> None:
    before = threading.active_count()
    with pytest.raises(NotBuilt), start_sync(tmp_path):
        raise NotBuilt("INTERNAL", "two files have the same content")

    assert threading.active_count() == before


def test_the_manifest_is_synced_before_it_is_published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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

    assert seen == [], "an unchanged tree must not be synced"

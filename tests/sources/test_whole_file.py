"""Whole files are replaced atomically, and keep their permissions."""

from __future__ import annotations

from pathlib import Path

import pytest

from strictwire.sources.refused import SourceRefused
from strictwire.sources.whole_file import write_whole


def test_a_file_keeps_its_mode_and_a_new_one_is_readable_by_everyone(tmp_path: Path) -> None:
    kept, new = tmp_path / "kept.json", tmp_path / "new.json"
    kept.write_bytes(b"old")
    kept.chmod(0o640)
    for path in (kept, new):
        write_whole(path, b"{}")

    assert [(path.read_bytes(), path.stat().st_mode & 0o777) for path in (kept, new)] == [(b"{}", 0o640), (b"{}", 0o644)]


def test_a_read_only_file_is_refused_and_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "tool.json"
    path.write_bytes(b"old")
    path.chmod(0o444)

    with pytest.raises(SourceRefused, match="read-only"):
        write_whole(path, b"{}")

    assert (path.read_bytes(), path.stat().st_mode & 0o777, [each.name for each in tmp_path.iterdir()]) == (
        b"old",
        0o444,
        ["tool.json"],
    )

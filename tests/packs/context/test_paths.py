"""Cache names and paths (rules 1.11; clause R4)."""

from __future__ import annotations

from pathlib import Path

import pytest

from strictwire.packs.context.paths import resolve_name
from strictwire.packs.context.rules import Unusable


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    (root / "team" / "cache").mkdir(parents=True)
    (root / "file").write_text("x")
    (tmp_path / "outside").mkdir()
    (root / "out").symlink_to(tmp_path / "outside")
    (root / "in").symlink_to(root / "team")
    (root / "loop").symlink_to(root / "loop")
    return root


@pytest.mark.v0("1.11.3")
@pytest.mark.parametrize(
    ("name", "expected"),
    [("team/cache", "team/cache"), ("", "."), (".", "."), ("in/cache", "team/cache"), ("./team", "team")],
)
def test_a_name_inside_the_root_resolves_to_its_real_directory(root: Path, name: str, expected: str) -> None:
    assert resolve_name(str(root), name) == (root / expected).resolve()


@pytest.mark.v0("1.11.1", "1.11.2", "1.10.2", "1.10.3")
@pytest.mark.clause("R4")
@pytest.mark.parametrize(
    "name", ["..", "a..b", "../outside", "/etc", "\\etc", "out", "absent", "file", "file/x", "loop", "a\x00b", "x" * 5000]
)
def test_every_other_name_is_a_missing_cache(root: Path, name: str) -> None:
    with pytest.raises(Unusable) as caught:
        resolve_name(str(root), name)

    assert caught.value.failure.code == "CACHE_MISSING"


@pytest.mark.v0("1.11.1")
def test_names_are_checked_before_the_disk_is_touched() -> None:
    with pytest.raises(Unusable) as caught:
        resolve_name("/nonexistent", "..")

    assert caught.value.rule.id == "CACHE_INSIDE_ROOT"


def test_a_root_that_does_not_exist_is_a_missing_cache(tmp_path: Path) -> None:
    with pytest.raises(Unusable) as caught:
        resolve_name(str(tmp_path / "gone"), "cache")

    assert caught.value.failure.code == "CACHE_MISSING"

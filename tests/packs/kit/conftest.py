"""Roots for the jail tests: one workspace, and beside it a place that nobody may reach."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from strictwire.packs.kit.ground import Resolution
from strictwire.packs.kit.jail import Jail

INSIDE = b"inside\n"
OUTSIDE = b"OUTSIDE\n"


@pytest.fixture
def root() -> Iterator[Path]:
    """A workspace that users without rights can reach too, which is not so of pytest's own folders."""
    base = Path(tempfile.mkdtemp(prefix="strictwire-jail-"))
    base.chmod(0o755)
    workspace = base / "workspace"
    (workspace / "docs" / "deep").mkdir(parents=True)
    (workspace / "docs" / "note.txt").write_bytes(INSIDE)
    (workspace / "top.txt").write_bytes(INSIDE)
    (base / "outside").mkdir()
    (base / "outside" / "note.txt").write_bytes(OUTSIDE)
    yield workspace
    shutil.rmtree(base)


@pytest.fixture
def outside(root: Path) -> Path:
    return root.parent / "outside"


@pytest.fixture(params=list(Resolution), ids=lambda each: each.value)
def resolution(request: pytest.FixtureRequest) -> Resolution:
    """Every way of looking up that there is; this system must have all of them, or the run says which is missing."""
    found: Resolution = request.param
    return found


@pytest.fixture
def jail(root: Path, resolution: Resolution) -> Iterator[Jail]:
    before = open_descriptors()
    with Jail(root, resolution) as opened:
        yield opened

    # Fewer is fine: what other tests of this process left behind may be collected meanwhile.
    assert open_descriptors() <= before, "the jail left descriptors open"


def open_descriptors() -> int:
    """How many this process has open, where the system tells."""
    listed = Path("/proc/self/fd")
    return len(list(listed.iterdir())) if listed.exists() else 0

"""Fixtures for the jail tests: a workspace folder, and a folder beside it that must stay out of reach."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from strictwire.packs.kit.jail import Jail
from strictwire.packs.kit.root import Resolution

INSIDE = b"inside\n"
OUTSIDE = b"OUTSIDE\n"


@pytest.fixture
def root() -> Iterator[Path]:
    """A workspace that unprivileged users can reach too; pytest's own temporary folders are closed to them."""
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
    """Each kind of path lookup. This system must support all of them; otherwise the tests fail and name the missing one."""
    found: Resolution = request.param
    return found


@pytest.fixture
def jail(root: Path, resolution: Resolution) -> Iterator[Jail]:
    before = open_descriptors()
    with Jail(root, resolution) as opened:
        yield opened

    # Fewer is allowed: the garbage collector may close descriptors of other tests in between.
    assert open_descriptors() <= before, "the jail left descriptors open"


def open_descriptors() -> int:
    """Return the number of open file descriptors of this process, or 0 where the system has no /proc."""
    listed = Path("/proc/self/fd")
    return len(list(listed.iterdir())) if listed.exists() else 0

"""Processes that the pack starts import nothing from the working directory, which may be a project that others write to."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.packs.context.caches import make_cache

from strictwire.packs.context.index import IndexBuilder
from strictwire.packs.context.layout import MANIFEST
from strictwire.packs.context.load import open_cache
from strictwire.packs.context.parallel_load import load_documents
from strictwire.packs.context.search.index_store import LARGE_MANIFEST

STRICTWIRE = Path(sys.executable).with_name("strictwire")


@pytest.fixture
def planted(tmp_path: Path) -> Path:
    """A folder with a module that shadows strictwire itself and leaves a file when it is imported."""
    package = tmp_path / "project" / "strictwire"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("import pathlib\npathlib.Path(__file__).with_name('imported').touch()\n")
    return package.parent


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return make_cache(
        tmp_path / "root", {f"{number:04}.md": f"# Page {number}\n\nalpha {number}\n" for number in range(500)}
    )


@pytest.mark.slow
def test_indexing_imports_nothing_from_the_working_directory(planted: Path, cache: Path, tmp_path: Path) -> None:
    assert (cache / MANIFEST).stat().st_size >= LARGE_MANIFEST, "the index is made by another process"
    environment = {**os.environ, "XDG_STATE_HOME": str(tmp_path / "state")}

    ended = subprocess.run(
        [STRICTWIRE, "context", "search", "alpha", "--root", cache.parent],
        cwd=planted,
        env=environment,
        capture_output=True,
        check=False,
    )

    assert (ended.returncode, (planted / "strictwire" / "imported").exists()) == (0, False), ended.stderr


def test_a_parallel_load_imports_nothing_from_the_working_directory(
    planted: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(planted)

    with open_cache(cache) as (documents, entries):
        load_documents(documents, entries, IndexBuilder(), parts=2)

    assert not (planted / "strictwire" / "imported").exists()

"""Documents are made in turns of some sources: their bytes, rows and order do not depend on it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.packs.context.caches import snapshot, write_sources

from strictwire.packs.context import shape
from strictwire.packs.context.ingest import NotBuilt, look, walk
from strictwire.packs.context.layout import file_of, version_of
from strictwire.packs.context.shape import Made, file_stamp, make_documents

TEXTS = {f"{number}.md": "word " * number for number in range(12)}


def make(folder: Path, name: str) -> list[Made]:
    (folder / name / "documents").mkdir(parents=True)
    found = list(walk(os.fsencode(folder / "sources"), lambda _name: True))
    return [Made(*row) for row in make_documents(found, str(folder / name))]


@pytest.mark.parametrize("turn", [0, 1, 70, 1 << 20])
def test_turns_of_any_size_make_the_same_documents_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, turn: int
) -> None:
    write_sources(tmp_path / "sources", TEXTS)
    expected = make(tmp_path, "expected")
    monkeypatch.setattr(shape, "_A_TURN", turn)
    actual = make(tmp_path, "actual")

    assert [made[:3] for made in actual] == [made[:3] for made in expected]
    assert [made.id for made in actual] == sorted(TEXTS)
    assert snapshot(tmp_path / "actual") == snapshot(tmp_path / "expected")


def test_a_row_tells_the_source_as_it_was_read_and_the_file_as_it_was_written(tmp_path: Path) -> None:
    write_sources(tmp_path / "sources", {"A.md": "alpha"})
    (source,) = walk(os.fsencode(tmp_path / "sources"), lambda _name: True)
    version = version_of(b"alpha")

    assert make(tmp_path, "cache") == [
        Made("a.md", version, look(source), file_stamp((tmp_path / "cache" / file_of(version)).stat()))
    ]


def test_a_file_that_goes_away_before_it_is_read_is_an_io_error(tmp_path: Path) -> None:
    sources = write_sources(tmp_path / "sources", TEXTS)
    found = list(walk(os.fsencode(sources), lambda _name: True))
    (sources / "7.md").unlink()
    (tmp_path / "documents").mkdir()

    with pytest.raises(NotBuilt) as caught:
        make_documents(found, str(tmp_path))

    assert (caught.value.failure.code, caught.value.subject) == ("IO_ERROR", "7.md")

"""Writing documents in batches: bytes, rows and order do not depend on the batch size."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.packs.context.caches import snapshot, write_sources

from strictwire.packs.context import documents as documents_module
from strictwire.packs.context.documents import WrittenDocument, document_stamp, make_documents
from strictwire.packs.context.ingest import NotBuilt, look, walk
from strictwire.packs.context.layout import file_of, version_of

TEXTS = {f"{number}.md": "word " * number for number in range(12)}


def make(folder: Path, name: str) -> list[WrittenDocument]:
    (folder / name / "documents").mkdir(parents=True)
    found = list(walk(os.fsencode(folder / "sources"), lambda _name: True))
    return [WrittenDocument(*row) for row in make_documents(found, str(folder / name))]


@pytest.mark.parametrize("batch", [0, 1, 70, 1 << 20])
def test_batches_of_any_size_write_the_same_documents_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, batch: int
) -> None:
    write_sources(tmp_path / "sources", TEXTS)
    expected = make(tmp_path, "expected")
    monkeypatch.setattr(documents_module, "_BATCH_BYTES", batch)
    actual = make(tmp_path, "actual")

    assert [made[:3] for made in actual] == [made[:3] for made in expected]
    assert [made.id for made in actual] == sorted(TEXTS)
    assert snapshot(tmp_path / "actual") == snapshot(tmp_path / "expected")


def test_a_row_has_the_stamps_of_the_source_and_of_the_document_file(tmp_path: Path) -> None:
    write_sources(tmp_path / "sources", {"A.md": "alpha"})
    (source,) = walk(os.fsencode(tmp_path / "sources"), lambda _name: True)
    version = version_of(b"alpha")

    assert make(tmp_path, "cache") == [
        WrittenDocument("a.md", version, look(source), document_stamp((tmp_path / "cache" / file_of(version)).stat()))
    ]


def test_a_file_deleted_before_it_is_read_is_an_io_error(tmp_path: Path) -> None:
    sources = write_sources(tmp_path / "sources", TEXTS)
    found = list(walk(os.fsencode(sources), lambda _name: True))
    (sources / "7.md").unlink()
    (tmp_path / "documents").mkdir()

    with pytest.raises(NotBuilt) as caught:
        make_documents(found, str(tmp_path))

    assert (caught.value.failure.code, caught.value.subject) == ("IO_ERROR", "7.md")

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
from strictwire.packs.context.skips import Skip
from strictwire.packs.context.survey import SourceRules

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


def test_links_that_leave_the_tree_are_skipped_and_v0_follows_them(tmp_path: Path) -> None:
    """A downloaded tree must not be able to add other files of this machine."""
    sources = write_sources(tmp_path / "sources", {"in.md": "inside", "sub/a.md": "a"})
    other = write_sources(tmp_path / "other", {"secret.md": "secret", "a.md": "secret"})
    (sources / "absolute.md").symlink_to(other / "secret.md")
    (sources / "relative.md").symlink_to("../other/secret.md")
    (sources / "inner.md").symlink_to("in.md")
    found = list(walk(os.fsencode(sources), lambda name: name.endswith(".md")))
    (sources / "sub").rename(tmp_path / "moved")
    (sources / "sub").symlink_to(other)  # a folder is replaced after the walk
    (tmp_path / "cache" / "documents").mkdir(parents=True)
    rows = make_documents(found, str(tmp_path / "cache"), SourceRules(strict=False))
    skips = {row.relative: row.reason for row in rows if isinstance(row, Skip)}
    strict = make_documents(found, str(tmp_path / "cache"))

    assert skips == dict.fromkeys(["absolute.md", "relative.md", "sub/a.md"], "outside")
    assert len(strict) == 5


@pytest.mark.parametrize("strict", [True, False])
def test_a_file_that_becomes_a_pipe_after_the_walk_is_not_read(tmp_path: Path, strict: bool) -> None:
    sources = write_sources(tmp_path / "sources", {"a.md": "a"})
    found = list(walk(os.fsencode(sources), lambda _name: True))
    (sources / "a.md").unlink()
    os.mkfifo(sources / "a.md")
    if strict:
        with pytest.raises(NotBuilt):
            make_documents(found, str(tmp_path))
    else:
        skip = Skip("a.md", "unreadable", "a file is not a regular file")

        assert make_documents(found, str(tmp_path), SourceRules(strict=False)) == [skip]

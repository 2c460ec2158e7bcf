"""A parallel load gives the same result as a load in one process."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tests.packs.context.caches import make_cache

from strictwire.packs.context import parallel_load
from strictwire.packs.context.index import Index, IndexBuilder
from strictwire.packs.context.layout import file_of, version_of
from strictwire.packs.context.load import open_cache
from strictwire.packs.context.parallel_load import load_documents
from strictwire.packs.context.render import render_selection
from strictwire.packs.context.rules import Unusable
from strictwire.packs.context.select import select


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    texts = {f"Part/{number:02}.md": f"word{number % 5} café \x00 text {number} {number}" for number in range(23)}
    return make_cache(tmp_path, {**texts, "empty.md": ""})


def load(cache: Path, parts: int) -> Index:
    builder = IndexBuilder()
    with open_cache(cache) as (documents, entries):
        load_documents(documents, entries, builder, parts=parts)
    return builder.finish()


def everything(index: Index) -> tuple[object, ...]:
    answers = [render_selection(index, select(index, query, 60)) for query in ("", "word1 text", "café 7", "word4 word3")]
    return answers, list(index.tokens), list(index.words), dict(index.sources), sorted(index.postings)


@pytest.mark.slow
@pytest.mark.parametrize("parts", [2, 3, 24, 50])
def test_a_load_in_parts_gives_the_same_index(cache: Path, parts: int) -> None:
    assert everything(load(cache, parts)) == everything(load(cache, 1))


def test_a_violation_in_any_part_is_a_violation_of_the_load(cache: Path) -> None:
    (cache / file_of(version_of(b""))).write_text("{}")

    with pytest.raises(Unusable) as caught:
        load(cache, 2)

    assert (caught.value.rule.id, caught.value.subject) == ("DOCUMENT_SHAPE", "empty.md")


def test_a_load_works_if_no_process_can_be_started(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_arguments: object, **_options: object) -> None:
        raise OSError(11, "no process left")

    monkeypatch.setattr(subprocess, "Popen", refuse)

    assert everything(load(cache, 3)) == everything(load(cache, 1))


def test_the_part_of_a_loader_that_sends_nothing_is_read_here(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel_load, "__name__", "strictwire.no_such_module")

    assert everything(load(cache, 2)) == everything(load(cache, 1))


def test_a_loader_that_dies_halfway_is_an_io_error(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    messages = iter([("sources", {}), None])
    monkeypatch.setattr(parallel_load._Loader, "_next", lambda _self: next(messages))

    with pytest.raises(Unusable) as caught:
        load(cache, 2)

    assert caught.value.failure.code == "IO_ERROR"

"""Building a cache (rules 1.2, 1.3, 1.15): which files are taken, what is refused, and that builds are atomic."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.packs.context.caches import MOMENT, open_folder, snapshot, unprivileged, write_sources

from strictwire.packs.context import publish as publish_module
from strictwire.packs.context.build import Built, Order, build
from strictwire.packs.context.extract import KINDS
from strictwire.packs.context.ingest import NotBuilt
from strictwire.packs.context.inspection import find_violations
from strictwire.packs.context.layout import MAX_DOCUMENT_BYTES, parse_document, parse_manifest


def run(folder: Path, *, earlier: Built | None = None, moment: datetime = MOMENT, **options: object) -> Built:
    order = replace(Order(sources=folder / "sources", output=folder / "cache"), **options)  # type: ignore[arg-type]
    return build(order, now=lambda: moment, earlier=earlier)


def ids(cache: Path) -> list[str]:
    return [entry.id for entry in parse_manifest((cache / "manifest.json").read_bytes()).documents]


def code_of(folder: Path, **options: object) -> str:
    with pytest.raises(NotBuilt) as caught:
        run(folder, **options)
    return caught.value.failure.code


@pytest.mark.v0("1.2.2", "1.1.3")
def test_only_markdown_files_below_the_root_are_taken(tmp_path: Path) -> None:
    names = ["b/Two.md", "a.MD", ".md", "..md", ".hidden/x.md", "a.b.md", "c.txt", "md"]
    write_sources(tmp_path / "sources", {name: name for name in names})
    run(tmp_path)

    assert ids(tmp_path / "cache") == ["..md", ".hidden/x.md", "a.b.md", "b/two.md"]
    assert find_violations(tmp_path / "cache") == []


@pytest.mark.v0("1.2.4", "1.2.6", "1.1.6")
def test_content_is_kept_byte_for_byte_and_the_source_keeps_its_case(tmp_path: Path) -> None:
    write_sources(tmp_path / "sources", {"Dir/Ä.md": b"\xef\xbb\xbf---\r\ntitle: x\r\n---\r\n  \r\n"})
    run(tmp_path)
    (file,) = (tmp_path / "cache" / "documents").iterdir()
    document = parse_document(file.read_bytes())

    assert (document.id, document.source, document.content, document.metadata) == (
        "dir/ä.md",
        "Dir/Ä.md",
        "\ufeff---\r\ntitle: x\r\n---\r\n  \r\n",
        {},
    )


@pytest.mark.v0("1.2.1")
def test_links_to_files_are_taken_links_to_folders_and_loops_are_not(tmp_path: Path) -> None:
    sources = write_sources(tmp_path / "real", {"one.md": "one", "sub/two.md": "two"})
    write_sources(tmp_path / "other", {"three.md": "three"})
    (sources / "link.md").symlink_to(tmp_path / "other" / "three.md")
    (sources / "folder.md").symlink_to(tmp_path / "other")
    (sources / "loop.md").symlink_to(sources / "loop.md")
    (sources / "sub" / "up").symlink_to(sources)
    (sources / "broken.md").symlink_to(sources / "absent")
    os.mkfifo(sources / "pipe.md")
    (tmp_path / "sources").symlink_to(sources)
    run(tmp_path)

    assert ids(tmp_path / "cache") == ["link.md", "one.md", "sub/two.md"]


@pytest.mark.v0("1.3.5", "1.1.4")
def test_a_cache_without_documents_is_valid(tmp_path: Path) -> None:
    write_sources(tmp_path / "sources", {})

    assert run(tmp_path).document_count == 0
    assert find_violations(tmp_path / "cache") == []
    assert (tmp_path / "cache" / "index.json").read_bytes() == b"{}"


@pytest.mark.v0("1.2.6", "1.3.2", "1.3.3")
@pytest.mark.parametrize(
    ("contents", "code"),
    [
        ({"a.md": b"\xff"}, "INTERNAL"),
        ({"a.md": "same", "b.md": "same"}, "INTERNAL"),
        ({"a.md": "", "b.md": ""}, "INTERNAL"),
        ({"A.md": "one", "a.md": "two"}, "CACHE_INVALID"),
        ({"A.md": "same", "a.md": "same"}, "CACHE_INVALID"),
        ({"A.md": b"\xff", "a.md": "two"}, "INTERNAL"),
    ],
)
def test_conflicting_sources_are_refused_and_leave_nothing_behind(
    tmp_path: Path, contents: dict[str, str | bytes], code: str
) -> None:
    write_sources(tmp_path / "sources", contents)

    assert code_of(tmp_path) == code
    assert [path.name for path in tmp_path.iterdir()] == ["sources"]


@pytest.mark.v0("1.2.5")
def test_a_path_that_is_not_utf_8_is_an_internal_error(tmp_path: Path) -> None:
    write_sources(tmp_path / "sources", {"a.md": "alpha"})
    with open(os.fsencode(tmp_path / "sources") + b"/\xff.md", "wb"):  # noqa: PTH123 - a name that no Path can hold
        pass

    assert code_of(tmp_path) == "INTERNAL"


def test_a_file_of_a_gigabyte_is_refused_before_it_is_read(tmp_path: Path) -> None:
    sources = write_sources(tmp_path / "sources", {"a.md": "alpha"})
    with (sources / "big.md").open("wb") as file:
        file.truncate(1 << 30)

    assert MAX_DOCUMENT_BYTES < (1 << 30)
    assert code_of(tmp_path) == "IO_ERROR"
    assert not (tmp_path / "cache").exists()


@pytest.mark.v0("1.15.4")
@pytest.mark.parametrize(("part", "mode"), [("sub", 0), ("sub/a.md", 0), ("sub", 0o444)])
def test_an_unreadable_source_is_an_io_error_and_nothing_is_written(part: str, mode: int) -> None:
    """Mode 0o444: the folder can be listed but not entered, so its files are unreadable. They must not be skipped."""
    with open_folder() as folder:
        sources = write_sources(folder / "sources", {"sub/a.md": "alpha"})
        (sources / part).chmod(mode)
        with unprivileged():
            assert code_of(folder) == "IO_ERROR"
        (sources / part).chmod(0o700)

        assert [path.name for path in folder.iterdir()] == ["sources"]


@pytest.mark.v0("1.15.4")
@pytest.mark.parametrize("make", ["absent", "file"])
def test_sources_that_are_not_a_directory_are_an_io_error(tmp_path: Path, make: str) -> None:
    if make == "file":
        (tmp_path / "sources").write_text("x")

    assert code_of(tmp_path) == "IO_ERROR"


@pytest.mark.v0("1.3.1")
def test_an_existing_output_is_kept_without_force(tmp_path: Path) -> None:
    write_sources(tmp_path / "sources", {"a.md": "alpha"})
    for make in (lambda path: path.write_text("x"), lambda path: path.mkdir()):
        make(tmp_path / "cache")

        assert code_of(tmp_path) == "IO_ERROR"

        shutil.rmtree(tmp_path / "cache") if (tmp_path / "cache").is_dir() else (tmp_path / "cache").unlink()


@pytest.mark.parametrize("case", ["file", "foreign folder", "link", "parent of the sources"])
def test_force_replaces_only_a_cache(tmp_path: Path, case: str) -> None:
    sources = write_sources(tmp_path / "top" / "sources", {"a.md": "alpha"})
    output = tmp_path / "cache"
    if case == "file":
        output.write_text("x")
    elif case == "foreign folder":
        write_sources(output, {"precious.txt": "x"})
    elif case == "link":
        output.symlink_to(tmp_path / "top")
    else:
        output = tmp_path / "top"
    before = snapshot(tmp_path)

    with pytest.raises(NotBuilt) as caught:
        build(Order(sources=sources, output=output, force=True), now=lambda: MOMENT)

    assert caught.value.failure.code == "IO_ERROR"
    assert snapshot(tmp_path) == before


@pytest.mark.v0("1.3.7")
def test_a_failed_build_with_force_keeps_the_existing_cache(tmp_path: Path) -> None:
    sources = write_sources(tmp_path / "sources", {"a.md": "alpha"})
    run(tmp_path)
    before = snapshot(tmp_path / "cache")
    (sources / "bad.md").write_bytes(b"\xff")

    assert code_of(tmp_path, force=True) == "INTERNAL"
    assert snapshot(tmp_path / "cache") == before


@pytest.mark.v0("1.3.4")
@pytest.mark.parametrize("has_exchange", [True, False])
def test_force_replaces_a_cache_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_exchange: bool) -> None:
    if not has_exchange:
        monkeypatch.setattr(publish_module, "_rename", lambda *_arguments: False)
    sources = write_sources(tmp_path / "sources", {"a.md": "alpha"})
    run(tmp_path)
    (sources / "b.md").write_text("beta")
    run(tmp_path, force=True)

    assert ids(tmp_path / "cache") == ["a.md", "b.md"]
    assert find_violations(tmp_path / "cache") == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cache", "sources"]


@pytest.mark.v0("1.3.4")
def test_the_staging_directory_of_a_dead_build_is_removed_and_that_of_a_running_one_is_not(tmp_path: Path) -> None:
    write_sources(tmp_path / "sources", {"a.md": "alpha"})
    dead = tmp_path / ".cache.tmp-dead"
    dead.mkdir()
    with publish_module.staging_directory(tmp_path / "cache") as living:
        assert not dead.exists()
        run(tmp_path)
        assert living.exists()

    assert sorted(path.name for path in tmp_path.iterdir()) == ["cache", "sources"]


@pytest.mark.v0("1.3.4")
def test_missing_parents_of_the_output_are_created(tmp_path: Path) -> None:
    write_sources(tmp_path / "sources", {"a.md": "alpha"})
    run(tmp_path, output=tmp_path / "deep" / "er" / "cache")

    assert find_violations(tmp_path / "deep" / "er" / "cache") == []


@pytest.mark.parametrize("workers", [1, 2])
def test_any_number_of_workers_builds_the_same_bytes_and_reports_progress(tmp_path: Path, workers: int) -> None:
    write_sources(tmp_path / "sources", {f"{number}.md": f"text {number}" for number in range(600)})
    seen: list[tuple[int, int]] = []
    build(
        Order(sources=tmp_path / "sources", output=tmp_path / "cache", workers=workers),
        now=lambda: MOMENT,
        progress=lambda done, total: seen.append((done, total)),
    )
    run(tmp_path, output=tmp_path / "other", workers=1)

    assert snapshot(tmp_path / "cache") == snapshot(tmp_path / "other")
    assert seen == [(0, 600), (256, 600), (512, 600), (600, 600)]


def test_a_failure_in_a_worker_process_is_a_failure_of_the_build(tmp_path: Path) -> None:
    write_sources(tmp_path / "sources", {**{f"{number}.md": f"text {number}" for number in range(600)}, "599.md": b"\xff"})

    assert code_of(tmp_path, workers=2) == "INTERNAL"
    assert not (tmp_path / "cache").exists()


LATER = datetime.now(UTC) + timedelta(days=1)
"""A later time, at which files written now count as unchanged for long enough to be reused."""


def test_an_unchanged_tree_leaves_the_cache_as_it_is(tmp_path: Path) -> None:
    write_sources(tmp_path / "sources", {"a.md": "alpha", "b.md": "beta"})
    first = run(tmp_path, moment=LATER)
    before = snapshot(tmp_path / "cache")
    second = run(tmp_path, earlier=first, force=True, moment=LATER + timedelta(days=1))

    assert (second.reused, second.replaced, second.cache_version) == (2, False, first.cache_version)
    assert snapshot(tmp_path / "cache") == before


def test_a_file_changed_just_before_a_build_is_read_again_by_the_next(tmp_path: Path) -> None:
    write_sources(tmp_path / "sources", {"a.md": "alpha"})
    first = run(tmp_path, moment=datetime.now(UTC))

    assert run(tmp_path, earlier=first, force=True, moment=LATER).reused == 0


def test_a_modified_document_of_the_existing_cache_is_written_again(tmp_path: Path) -> None:
    write_sources(tmp_path / "sources", {"a.md": "alpha"})
    first = run(tmp_path, moment=LATER)
    (file,) = (tmp_path / "cache" / "documents").iterdir()
    file.write_text("corrupted")
    second = run(tmp_path, earlier=first, force=True, moment=LATER)

    assert (second.reused, second.replaced) == (0, True)
    assert find_violations(tmp_path / "cache") == []


EDITS = st.lists(
    st.tuples(st.sampled_from("abcd"), st.one_of(st.none(), st.integers(min_value=0, max_value=99))), max_size=8
)


@settings(max_examples=25, deadline=None)
@given(EDITS, EDITS)
def test_an_incremental_build_has_the_bytes_of_a_full_build(
    tmp_path_factory: pytest.TempPathFactory, before: list[tuple[str, int | None]], after: list[tuple[str, int | None]]
) -> None:
    folder = tmp_path_factory.mktemp("incremental")
    sources = write_sources(folder / "sources", {"keep.md": "kept"})

    def apply(edits: list[tuple[str, int | None]]) -> None:
        for name, number in edits:
            path = sources / f"{name}.md"
            path.unlink(missing_ok=True) if number is None else path.write_text(f"{name} {number}")

    apply(before)
    first = run(folder, moment=LATER)
    apply(after)
    second = run(folder, earlier=first, force=True, moment=LATER)
    run(folder, output=folder / "full", moment=LATER)

    assert snapshot(folder / "cache") == snapshot(folder / "full")
    assert second.reused >= 1


def test_other_kinds_are_built_on_request_and_equal_contents_are_then_merged(tmp_path: Path) -> None:
    write_sources(
        tmp_path / "sources",
        {"a/__init__.py": "", "b/__init__.py": "", "x.txt": "text", "y.html": "<h1>Title</h1><p>Body", "z.md": "md"},
    )
    run(tmp_path, kinds=frozenset(KINDS) - {"pdf"})
    documents = [parse_document(path.read_bytes()) for path in (tmp_path / "cache" / "documents").iterdir()]

    assert find_violations(tmp_path / "cache") == []
    assert sorted((each.id, each.content, dict(each.metadata)) for each in documents) == [
        ("a/__init__.py", "", {"kind": "code"}),
        ("x.txt", "text", {"kind": "text"}),
        ("y.html", "# Title\n\nBody\n", {"kind": "html"}),
        ("z.md", "md", {}),
    ]


def test_a_linked_document_of_the_existing_cache_is_never_written_to(tmp_path: Path) -> None:
    """A new file with the content of an unchanged one must not truncate a document that a reader may have open."""
    kinds = frozenset({"markdown", "text"})
    sources = write_sources(tmp_path / "sources", {"b.txt": "same"})
    first = run(tmp_path, moment=LATER, kinds=kinds)
    (old,) = (tmp_path / "cache" / "documents").iterdir()
    os.link(old, tmp_path / "held")
    held = (tmp_path / "held").read_bytes()
    (sources / "a.txt").write_text("same")
    run(tmp_path, earlier=first, force=True, moment=LATER, kinds=kinds)

    assert (tmp_path / "held").read_bytes() == held
    assert ids(tmp_path / "cache") == ["a.txt"]
    assert find_violations(tmp_path / "cache") == []

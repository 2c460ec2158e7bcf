"""Bad sources, caches and permissions: the documented failure code, no partial output, nothing written."""

from __future__ import annotations

import os
import resource
import shutil
import threading
from collections.abc import Callable
from itertools import cycle, islice
from pathlib import Path

import pytest
from tests.packs.context.caches import (
    MOMENT,
    make_cache,
    only_document_file,
    open_folder,
    snapshot,
    unprivileged,
    write_sources,
)

from strictwire.packs.context import layout
from strictwire.packs.context.build import Order, build
from strictwire.packs.context.library import Library
from strictwire.packs.context.render import render_selection
from strictwire.packs.context.rules import Unusable
from strictwire.packs.context.select import select
from strictwire.packs.context.verbs import CommandResult, run_build, run_inspect, run_list, run_resolve, run_verify

GIGABYTE = 1 << 30
SECRET = "unspeakable"
TEN_MILLION = 10_000_000


def make_long(path: Path, size: int) -> None:
    """Create a sparse file."""
    with path.open("r+b" if path.exists() else "wb") as file:
        file.truncate(size)


def listing(folder: Path) -> list[tuple[str, int]]:
    """Return names and sizes: a snapshot without reading gigabytes."""
    return sorted((str(path.relative_to(folder)), path.lstat().st_size) for path in folder.rglob("*"))


SOURCES: dict[str, tuple[Callable[[Path], object], int]] = {
    "not UTF-8": (lambda sources: (sources / "b.md").write_bytes(b"\xc3\x28"), 7),
    "half of a character at the end": (lambda sources: (sources / "b.md").write_bytes("é".encode()[:1]), 7),
    "UTF-16": (lambda sources: (sources / "b.md").write_bytes("text".encode("utf-16")), 7),
    "a surrogate as UTF-8": (lambda sources: (sources / "b.md").write_bytes(b"\xed\xa0\x80"), 7),
    "a name that is not UTF-8": (lambda sources: Path(os.fsdecode(os.fsencode(sources) + b"/\xff.md")).write_text("x"), 7),
    "a gigabyte": (lambda sources: make_long(sources / "b.md", GIGABYTE), 6),
    "one byte too many": (lambda sources: make_long(sources / "b.md", layout.MAX_DOCUMENT_BYTES + 1), 6),
    "escapes that make it too long": (
        lambda sources: (sources / "b.md").write_bytes(b"\n" * (layout.MAX_DOCUMENT_BYTES // 2)),
        6,
    ),
    "identical files": (lambda sources: (sources / "b.md").write_text(SECRET), 7),
    "two empty files": (lambda sources: [(sources / name).touch() for name in ("b.md", "c.md")], 7),
    "names that differ in case": (lambda sources: (sources / "A.md").write_text("other"), 5),
    "names that differ in case beyond ASCII": (
        lambda sources: [(sources / name).write_text(name) for name in ("Ä.md", "ä.md")],
        5,
    ),
    "folders that differ in case": (
        lambda sources: write_sources(sources, {"Sub/b.md": "one", "sub/b.md": "two"}),
        5,
    ),
}


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("case", SOURCES)
def test_sources_that_cannot_be_built_leave_no_trace(tmp_path: Path, case: str, force: bool) -> None:
    """With `force` there is an existing cache, which must not change."""
    spoil, exit_code = SOURCES[case]
    cache = make_cache(tmp_path, {"old.md": "old"}) if force else tmp_path / "cache"
    sources = write_sources(tmp_path / "sources", {"a.md": SECRET})
    spoil(sources)
    before = listing(tmp_path)

    answer = run_build(Order(sources=sources, output=cache, force=force), now=lambda: MOMENT)

    assert (answer.exit_code, answer.stdout, answer.stderr[:6]) == (exit_code, b"", b"error:")
    assert SECRET.encode() not in answer.stderr
    assert listing(tmp_path) == before


@pytest.mark.slow
def test_a_document_just_below_the_size_limit_can_be_read(tmp_path: Path) -> None:
    sources = write_sources(tmp_path / "sources", {"a.md": b"x" * (layout.MAX_DOCUMENT_BYTES - 1000)})
    cache = tmp_path / "cache"

    assert run_build(Order(sources=sources, output=cache), now=lambda: MOMENT).exit_code == 0
    assert run_resolve(cache, query="x", budget=str(layout.MAX_DOCUMENT_BYTES)).stdout[:26] == b'{"documents":[{"id":"a.md"'
    assert run_verify(cache).exit_code == 0


def test_cycles_of_links_do_not_stop_a_build(tmp_path: Path) -> None:
    sources = write_sources(tmp_path / "sources", {"a.md": "alpha", "sub/b.md": "beta"})
    for name, target in (("loop.md", "loop.md"), ("one.md", "two.md"), ("two.md", "one.md"), ("sub/up", "..")):
        (sources / name).symlink_to(target)
    cache = tmp_path / "cache"
    answer = run_build(Order(sources=sources, output=cache), now=lambda: MOMENT)

    assert (answer.exit_code, answer.stderr[:17]) == (0, b"built 2 documents")

    (tmp_path / "circle").symlink_to("circle")

    assert [
        run_resolve(tmp_path / "circle", query="", budget="1").exit_code,
        run_inspect(tmp_path / "circle").exit_code,
        run_build(Order(sources=tmp_path / "circle", output=tmp_path / "new"), now=lambda: MOMENT).exit_code,
        run_build(Order(sources=sources, output=tmp_path / "circle", force=True), now=lambda: MOMENT).exit_code,
    ] == [4, 4, 6, 6]


@pytest.mark.parametrize("part", ["sources", "sources/sub", "sources/sub/a.md"])
def test_sources_without_read_permission_exit_6_and_leave_no_trace(part: str) -> None:
    with open_folder() as folder:
        write_sources(folder / "sources", {"sub/a.md": SECRET, "b.md": "beta"})
        (folder / part).chmod(0)
        with unprivileged():
            answer = run_build(Order(sources=folder / "sources", output=folder / "cache"), now=lambda: MOMENT)
        (folder / part).chmod(0o700)

        assert (answer.exit_code, answer.stdout) == (6, b"")
        assert [path.name for path in folder.iterdir()] == ["sources"]


def test_an_output_without_write_permission_exits_6() -> None:
    with open_folder() as folder:
        sources = write_sources(folder / "sources", {"a.md": "alpha"})
        (folder / "closed").mkdir(mode=0o555)
        with unprivileged():
            answer = run_build(Order(sources=sources, output=folder / "closed" / "cache"), now=lambda: MOMENT)

        assert (answer.exit_code, answer.stdout) == (6, b"")
        assert list((folder / "closed").iterdir()) == []


@pytest.mark.v0("1.10.5", "1.10.9", "1.12.1")
@pytest.mark.parametrize("part", ["manifest.json", "index.json", "documents", "document"])
def test_a_cache_without_read_permission_exits_6_and_prints_nothing(part: str) -> None:
    with open_folder() as folder:
        cache = make_cache(folder, {"a.md": SECRET})
        target = only_document_file(cache) if part == "document" else cache / part
        target.chmod(0)
        with unprivileged():
            resolved, verified = run_resolve(cache, query="", budget="99"), run_verify(cache)
        target.chmod(0o700)

    assert (resolved.exit_code, resolved.stdout, resolved.stderr[:6]) == (6, b"", b"error:")
    assert verified.exit_code == 6


LONG: dict[str, Callable[[Path], Path]] = {
    "manifest": lambda cache: cache / "manifest.json",
    "index": lambda cache: cache / "index.json",
    "document": only_document_file,
}


@pytest.mark.parametrize("case", LONG)
def test_a_file_of_a_gigabyte_in_a_cache_exits_5_without_being_read(tmp_path: Path, case: str) -> None:
    cache = make_cache(tmp_path, {"a.md": "alpha"})
    make_long(LONG[case](cache), GIGABYTE)
    before, peak = listing(cache), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    answers = [run_resolve(cache, query="", budget="9"), run_verify(cache)]

    assert [each.exit_code for each in answers] == [5, 5]
    assert answers[0].stdout == b""
    assert listing(cache) == before
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak < 100_000


@pytest.mark.parametrize("case", LONG)
def test_endless_devices_and_pipes_in_a_cache_are_not_read(tmp_path: Path, case: str) -> None:
    """Reading a pipe would block forever; reading a device would never end."""
    cache = make_cache(tmp_path, {"a.md": "alpha"})
    file = LONG[case](cache)
    file.unlink()
    os.mkfifo(file)

    assert run_resolve(cache, query="", budget="9").exit_code == 5

    file.unlink()
    file.symlink_to("/dev/zero")

    assert run_resolve(cache, query="", budget="9").exit_code == 5


@pytest.mark.slow
def test_a_manifest_of_ten_million_entries_is_refused_whatever_they_contain(tmp_path: Path) -> None:
    """The shortest possible entries stay below the size limit, so they are refused by their number."""
    cache = make_cache(tmp_path, {"a.md": "alpha"})
    head, _, _ = (cache / "manifest.json").read_bytes().partition(b'"document_count"')
    with (cache / "manifest.json").open("wb") as file:
        file.write(head + b'"document_count":%d,"documents":[' % TEN_MILLION)
        for _ in range(99):
            file.write(b'{"id":"","version":"","file":""},' * (TEN_MILLION // 100))
        file.write(b'{"id":"","version":"","file":""},' * (TEN_MILLION // 100 - 1) + b'{"id":"","version":"","file":""}]}')
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    resolved, verified = run_resolve(cache, query="", budget="9"), run_verify(cache)

    assert (cache / "manifest.json").stat().st_size < layout.MAX_MANIFEST_BYTES
    assert (resolved.exit_code, resolved.stdout) == (5, b"")
    assert b'"rule": "MANIFEST_SHAPE"' in verified.stdout
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak < 1_000_000


def test_a_deleted_root_is_a_missing_cache_for_every_command(tmp_path: Path) -> None:
    root = tmp_path / "root"
    make_cache(root, {"a.md": "alpha"})
    library = Library(str(root))
    library.open("cache")
    shutil.rmtree(root)
    with pytest.raises(Unusable) as caught:
        library.open("cache")

    assert caught.value.failure.code == "CACHE_MISSING"
    assert [
        run_resolve(root / "cache", query="", budget="1").exit_code,
        run_inspect(root / "cache").exit_code,
        run_verify(root / "cache").exit_code,
        run_list(root).exit_code,
    ] == [4, 4, 4, 4]
    assert not root.exists()

    library.close()


def test_a_root_deleted_after_its_cache_was_resolved_is_an_io_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The only way to get this code: the cache resolves, and then its root does not."""
    root = tmp_path / "root"
    make_cache(root, {"a.md": "alpha"})
    realpath = os.path.realpath

    def vanish(path: object, *, strict: bool = False) -> str:
        found = realpath(path, strict=strict)  # type: ignore[call-overload]
        if str(found).endswith("cache"):
            shutil.rmtree(root)
        return str(found)

    monkeypatch.setattr(os.path, "realpath", vanish)
    library = Library(str(root))
    with pytest.raises(Unusable) as caught:
        library.open("cache")

    assert (caught.value.rule.id, caught.value.failure.code) == ("ROOT_RESOLVES", "IO_ERROR")

    library.close()


@pytest.mark.slow
def test_readers_of_a_cache_that_is_replaced_repeatedly_see_only_complete_generations(tmp_path: Path) -> None:
    """Real builds replace a cache while other threads read it from memory and from disk."""
    trees = [
        write_sources(tmp_path / name, {f"{number}.md": f"{name} alpha {number}" for number in range(count)})
        for name, count in (("odd", 40), ("even", 55))
    ]
    cache = tmp_path / "root" / "cache"
    whole: list[CommandResult] = []
    for tree in trees:
        build(Order(sources=tree, output=cache, force=True), now=lambda: MOMENT)
        whole.append(run_resolve(cache, query="alpha", budget="300"))
    done = threading.Event()

    def replace() -> None:
        try:
            for tree in islice(cycle(trees), 30):
                build(Order(sources=tree, output=cache, force=True), now=lambda: MOMENT)
        finally:
            done.set()

    library = Library(str(tmp_path / "root"))
    writer = threading.Thread(target=replace)
    writer.start()
    seen: set[bytes] = set()
    verdicts: set[bytes] = set()
    while not done.is_set():
        index = library.open("cache").index
        seen.add(render_selection(index, select(index, "alpha", 300)) + b"\n")
        direct = run_resolve(cache, query="alpha", budget="300")
        seen.add(direct.stdout if direct.exit_code == 0 else direct.stderr)
        verdicts.add(run_verify(cache).stdout + run_inspect(cache).stdout[-16:])
    writer.join(60)

    assert seen <= {each.stdout for each in whole}
    assert verdicts == {b'{\n  "valid": true,\n  "violations": []\n}\n"valid": true\n}\n'}
    assert sorted(path.name for path in (tmp_path / "root").iterdir()) == ["cache"]

    library.close()


def test_a_refusal_quotes_nothing_from_a_document(tmp_path: Path) -> None:
    cache = make_cache(tmp_path, {"a.md": SECRET, "b.md": "beta"})
    document = next(path for path in (cache / "documents").iterdir() if SECRET in path.read_text())
    document.write_bytes(document.read_bytes()[:-3])
    before = snapshot(cache)
    answers = [run_resolve(cache, query="beta", budget="99"), run_verify(cache)]

    assert [each.exit_code for each in answers] == [5, 5]
    assert [each for each in answers if SECRET.encode() in each.stdout + each.stderr] == []
    assert snapshot(cache) == before

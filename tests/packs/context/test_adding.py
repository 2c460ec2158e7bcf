"""`context add`: folders, archives and packages become named caches that can be updated."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.packs.context.caches import MOMENT, write_sources
from tests.packs.context.test_archives import make_tar, make_zip

from strictwire.packs.context import adding as adding_module
from strictwire.packs.context.adding import Addition, add_source
from strictwire.packs.context.extract import KINDS
from strictwire.packs.context.ingest import NotBuilt
from strictwire.packs.context.inspection import find_violations
from strictwire.packs.context.layout import parse_manifest
from strictwire.packs.context.packages import Package
from strictwire.packs.context.sources import REGISTRY, NamedSource, read_sources, update_source
from strictwire.packs.context.survey import SourceRules


def add(root: Path, source: str, name: str = "docs", **texts: str) -> NamedSource:
    addition = Addition(
        root=root, name=name, source=source, kinds=frozenset(KINDS), rules=SourceRules(strict=False), **texts
    )
    return add_source(addition, now=lambda: MOMENT, progress=lambda _done, _all: None)[1]


def ids(cache: Path) -> list[str]:
    assert find_violations(cache) == []
    return [entry.id for entry in parse_manifest((cache / "manifest.json").read_bytes()).documents]


def test_a_folder_is_added_and_updated_and_keeps_its_title(tmp_path: Path) -> None:
    sources = write_sources(tmp_path / "sources", {"a.md": "alpha"})
    first = add(tmp_path / "root", str(sources), title="Handbook", description="For people.")
    (sources / "b.md").write_text("beta")
    second = add(tmp_path / "root", str(sources))

    assert first == second == read_sources(tmp_path / "root")["docs"]
    assert (first.title, first.description, first.source) == ("Handbook", "For people.", str(sources))
    assert ids(tmp_path / "root" / "docs") == ["a.md", "b.md"]


def test_an_archive_is_added_without_its_outer_folder(tmp_path: Path) -> None:
    archive = make_tar(tmp_path / "pkg-1.0.tar.gz", {"pkg-1.0/README.md": b"read", "pkg-1.0/setup.py": b"raise SystemExit"})
    add(tmp_path / "root", str(archive))

    assert ids(tmp_path / "root" / "docs") == ["readme.md", "setup.py"]


def test_a_package_has_its_version_and_summary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def download(_package: Package, folder: Path) -> tuple[Path, str]:
        members = {"pkg/a.py": b"x", "pkg-2.0.dist-info/METADATA": b"Name: pkg\nSummary: A package.\n\nLong."}
        return make_zip(folder / "pkg-2.0-py3-none-any.whl", members), "2.0"

    monkeypatch.setattr(adding_module, "download", download)
    added = add(tmp_path / "root", "pypi:pkg", "pkg")

    assert added == NamedSource(
        source="pypi:pkg==2.0", version="2.0", title="pkg", description="A package.", added_at="2026-01-02T03:04:05.006Z"
    )
    assert ids(tmp_path / "root" / "pkg") == ["pkg/a.py"]


@pytest.mark.parametrize(
    ("name", "source"), [("../x", "."), ("a/b", "."), ("docs", "pypi:a b"), ("docs", "/nonexistent"), ("docs", "bad.zip")]
)
def test_what_cannot_be_added_leaves_nothing_behind(tmp_path: Path, name: str, source: str) -> None:
    (tmp_path / "bad.zip").write_bytes(b"nonsense")
    (tmp_path / "root").mkdir()
    with pytest.raises(NotBuilt) as caught:
        add(tmp_path / "root", str(tmp_path / source) if source == "bad.zip" else source, name)

    assert caught.value.failure.code == "IO_ERROR"
    assert list((tmp_path / "root").iterdir()) == []


def test_a_damaged_list_of_sources_is_not_overwritten(tmp_path: Path) -> None:
    sources = write_sources(tmp_path / "sources", {"a.md": "alpha"})
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / REGISTRY).write_text("{")

    with pytest.raises(NotBuilt):
        add(tmp_path / "root", str(sources))

    assert (tmp_path / "root" / REGISTRY).read_text() == "{"


def test_a_source_that_another_process_adds_during_a_build_is_kept(tmp_path: Path) -> None:
    sources = write_sources(tmp_path / "sources", {"a.md": "alpha"})
    other = NamedSource(source="/other", title="Other")
    addition = Addition(
        root=tmp_path / "root", name="docs", source=str(sources), kinds=frozenset(KINDS), rules=SourceRules(strict=False)
    )
    (tmp_path / "root").mkdir()

    def progress(_done: int, _all: int) -> None:
        update_source(tmp_path / "root", "other", lambda _before: other)

    added = add_source(addition, now=lambda: MOMENT, progress=progress)[1]

    assert read_sources(tmp_path / "root") == {"docs": added, "other": other}


def test_concurrent_additions_are_all_kept(tmp_path: Path) -> None:
    names = [f"s{number}" for number in range(40)]
    program = (
        "import sys; from pathlib import Path\n"
        "from strictwire.packs.context.sources import NamedSource, update_source\n"
        "for name in sys.argv[2:]: update_source(Path(sys.argv[1]), name, lambda _: NamedSource(source=name))\n"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", program, str(tmp_path), *names[first::4]], stderr=subprocess.PIPE)
        for first in range(4)
    ]

    assert [(process.communicate()[1], process.returncode) for process in running] == [(b"", 0)] * 4
    assert read_sources(tmp_path) == {name: NamedSource(source=name) for name in names}
    assert [path.name for path in tmp_path.iterdir()] == [REGISTRY]

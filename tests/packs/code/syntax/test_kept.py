"""Symbols by syntax are kept until their file changes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.packs.code.test_files import write

from strictwire.packs.code.engine import Completeness
from strictwire.packs.code.engines.fallback import ask_workspace
from strictwire.packs.code.files import Files
from strictwire.packs.code.lines import MAX_TEXT
from strictwire.packs.code.syntax import kept as kept_module
from strictwire.packs.code.syntax.kept import KeptSymbols
from strictwire.packs.kit.watch import Watch


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[KeptSymbols]:
    watch = Watch()
    files = Files((tmp_path,), watch)
    files.refresh()
    yield KeptSymbols(files)
    watch.close()


def read(kept: KeptSymbols, *paths: Path) -> dict[str, list[str]]:
    found = asyncio.run(kept.read([str(path) for path in paths]))
    return {Path(path).name: [each["name"] for each in symbols] for path, symbols in found.items()}


def naming(kept: KeptSymbols, text: str, *paths: Path) -> list[str]:
    return [Path(path).name for path in asyncio.run(kept.read_naming([str(path) for path in paths], text))]


@pytest.fixture
def parses(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Every source that is parsed."""
    seen: list[bytes] = []
    parse = kept_module.document_symbols
    monkeypatch.setattr(kept_module, "document_symbols", lambda grammar, raw: (seen.append(raw), parse(grammar, raw))[1])
    return seen


def test_a_file_is_parsed_once_until_it_changes(kept: KeptSymbols, tmp_path: Path, parses: list[bytes]) -> None:
    write(tmp_path, {"a.go": "package a\nfunc F() {}\n", "b.go": "package a\nfunc G() {}\n"})
    paths = (tmp_path / "a.go", tmp_path / "b.go")
    first, second = read(kept, *paths), read(kept, *paths)
    write(tmp_path, {"a.go": "package a\nfunc H() {}\n"})

    assert (first, second) == ({"a.go": ["F"], "b.go": ["G"]},) * 2
    assert (read(kept, *paths), len(parses)) == ({"a.go": ["H"], "b.go": ["G"]}, 3)


def test_files_without_a_grammar_missing_large_and_binary_ones_are_left_out(kept: KeptSymbols, tmp_path: Path) -> None:
    write(tmp_path, {"a.txt": "x", "b.go": "package b\n"})
    (tmp_path / "large.go").write_bytes(b"/" * (MAX_TEXT + 1))
    (tmp_path / "binary.go").write_bytes(b"\0")
    names = ("a.txt", "b.go", "large.go", "binary.go", "absent.go")

    assert read(kept, *(tmp_path / name for name in names)) == {"b.go": []}


def test_a_search_parses_only_files_that_hold_the_text(kept: KeptSymbols, tmp_path: Path, parses: list[bytes]) -> None:
    write(tmp_path, {"a.go": "package a\nfunc Target() {}\n", "b.go": "package a // target\n", "c.go": "package a\n"})
    paths = [tmp_path / name for name in ("a.go", "b.go", "c.go")]

    assert (naming(kept, "tARg", *paths), len(parses)) == (["a.go"], 2)
    assert (naming(kept, "target", *paths), naming(kept, "other", *paths), len(parses)) == (["a.go"], [], 2)


def test_names_in_other_scripts_are_found_whatever_their_case(kept: KeptSymbols, tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "def ÜBER(): pass\n"})

    assert naming(kept, "über", tmp_path / "a.py") == ["a.py"]


def test_what_is_kept_is_bounded(
    kept: KeptSymbols, tmp_path: Path, parses: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_module, "MAX_KEPT", 1)
    write(tmp_path, {"a.go": "package a\nfunc F() {}\n", "b.go": "package a\nfunc G() {}\n"})
    paths = (tmp_path / "a.go", tmp_path / "b.go")

    assert (read(kept, *paths), read(kept, *paths), len(parses)) == (*({"a.go": ["F"], "b.go": ["G"]},) * 2, 4)


def test_a_search_that_leaves_out_a_file_is_partial(kept: KeptSymbols, tmp_path: Path) -> None:
    write(tmp_path, {"b.go": "package b\nfunc Found() {}\n"})
    (tmp_path / "large.go").write_bytes(b"/" * (MAX_TEXT + 1))
    (tmp_path / "binary.go").write_bytes(b"\0")
    all_files = [str(tmp_path / name) for name in ("b.go", "large.go", "binary.go", "gone.go")]

    whole = asyncio.run(ask_workspace(kept, all_files[:1], "Found", "no engine"))
    partial = asyncio.run(ask_workspace(kept, all_files, "Found", "no engine"))

    assert whole is not None
    assert partial is not None
    assert (whole.completeness, whole.note) == (Completeness.COMPLETE, "no engine")
    assert (partial.completeness, partial.note, partial.value) == (Completeness.PARTIAL, "1 files not read", whole.value)

"""Which files are taken: v0's rules, and the rules for any tree."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.packs.context.caches import open_folder, unprivileged, write_sources

from strictwire.packs.context.extract import KINDS
from strictwire.packs.context.ingest import NotBuilt
from strictwire.packs.context.skips import Skip
from strictwire.packs.context.survey import V0, SourceRules, survey

ANY = SourceRules(strict=False, gitignore=True)
ALL = frozenset(KINDS)


def found(folder: Path, rules: SourceRules = ANY, kinds: frozenset[str] = ALL) -> list[str]:
    return [source.relative for source in survey(folder, kinds, rules).found]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return write_sources(
        tmp_path,
        {
            ".gitignore": "build/\n*.log.md\n",
            ".git/config.md": "x",
            "README": "x",
            "a.MD": "x",
            "build/out.md": "x",
            "docs/.gitignore": "!kept.log.md\n",
            "docs/kept.log.md": "x",
            "docs/lost.log.md.md": "x",
            "docs/old.log.md": "x",
            "logo.png": "x",
            "node_modules/p/readme.md": "x",
            "src/m.py": "x",
        },
    )


def test_ignore_files_apply_as_in_git_and_names_in_any_case_are_known(tree: Path) -> None:
    made = survey(tree, ALL, ANY)

    assert [source.relative for source in made.found] == [
        "README", "a.MD", "docs/kept.log.md", "docs/lost.log.md.md", "src/m.py",
    ]  # fmt: skip
    assert made.ignored == [".git", "build", "docs/old.log.md", "node_modules"]
    assert made.other == {"": 2, "png": 1}


def test_strict_rules_are_those_of_v0(tree: Path) -> None:
    assert found(tree, V0, frozenset({"markdown"})) == [
        ".git/config.md", "build/out.md", "docs/kept.log.md", "docs/lost.log.md.md", "docs/old.log.md",
        "node_modules/p/readme.md",
    ]  # fmt: skip


@pytest.mark.parametrize("strict", [True, False])
def test_exclude_leaves_out_and_include_takes_only_what_matches(tree: Path, strict: bool) -> None:
    markdown = frozenset({"markdown"})
    without = SourceRules(strict=strict, exclude=("/docs/", ".git", "node_modules"))
    only = SourceRules(strict=strict, include=("docs/*.md",), exclude=("*.log.md",))

    assert found(tree, without, markdown) == ([] if strict else ["a.MD"]) + ["build/out.md"]
    assert found(tree, only, markdown) == ["docs/lost.log.md.md"]


def test_links_to_files_are_taken_and_links_to_folders_are_not(tmp_path: Path) -> None:
    sources = write_sources(tmp_path / "sources", {"a.md": "x"})
    other = write_sources(tmp_path / "other", {"b.md": "x"})
    (sources / "link.md").symlink_to(other / "b.md")
    (sources / "folder").symlink_to(other)
    (sources / "loop.md").symlink_to(sources / "loop.md")
    os.mkfifo(sources / "pipe.md")

    assert found(sources) == ["a.md", "link.md"]


def test_a_path_that_is_not_utf_8_and_an_unreadable_folder_are_skipped() -> None:
    with open_folder() as folder:
        write_sources(folder, {"a.md": "x", "closed/b.md": "x"})
        with open(os.fsencode(folder) + b"/\xff.md", "wb"):  # noqa: PTH123 - a name that no Path can hold
            pass
        (folder / "closed").chmod(0)
        with unprivileged():
            made = survey(folder, ALL, ANY)
        (folder / "closed").chmod(0o700)

    assert [source.relative for source in made.found] == ["a.md"]
    assert made.skipped == [Skip("closed/", "unreadable"), Skip("\ufffd.md", "path")]


def test_sources_that_are_not_a_directory_are_refused(tmp_path: Path) -> None:
    with pytest.raises(NotBuilt):
        survey(tmp_path / "absent", ALL, ANY)


def test_a_folder_that_is_too_deep_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("strictwire.packs.context.survey.MAX_DEPTH", 2)
    write_sources(tmp_path, {"a/b/in.md": "x", "a/b/c/out.md": "x"})
    made = survey(tmp_path, frozenset({"markdown"}), SourceRules(strict=False))

    assert [source.relative for source in made.found] == ["a/b/in.md"]
    assert [(skip.relative, skip.reason) for skip in made.skipped] == [("a/b/c", "too-deep")]

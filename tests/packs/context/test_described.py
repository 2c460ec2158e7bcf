"""The list of caches for agents, and the file of named sources."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.packs.context.caches import make_cache

from strictwire.canon.json import parse_object
from strictwire.packs.context.described import Describer
from strictwire.packs.context.sources import REGISTRY, BadRegistry, NamedSource, is_source_name, read_sources, write_sources

DJANGO = NamedSource(
    source="pypi:django==5.2", version="5.2", title="Django", description="A web framework.", added_at="2026-01-02T03:04:05Z"
)


def test_a_cache_is_described_by_its_manifest_and_its_source(tmp_path: Path) -> None:
    cache = make_cache(tmp_path, {"a.md": "alpha"}, "django")
    make_cache(tmp_path, {"b.md": "beta"}, "plain")
    (tmp_path / "empty").mkdir()
    write_sources(tmp_path, {"django": DJANGO})
    version = parse_object((cache / "manifest.json").read_bytes())["cache_version"]
    listed = {each["path"]: each for each in Describer().describe(str(tmp_path))["caches"]}

    assert listed["django"] == {
        "path": "django",
        "has_manifest": True,
        "title": "Django",
        "description": "A web framework.",
        "source": "pypi:django==5.2",
        "source_version": "5.2",
        "cache_version": version,
        "created_at": "2026-01-02T03:04:05.006Z",
        "document_count": 1,
        "total_bytes": sum(path.stat().st_size for path in (cache / "documents").iterdir()),
    }
    assert listed["empty"] == {"path": "empty", "has_manifest": False}
    assert "title" not in listed["plain"]


def test_a_damaged_manifest_or_registry_does_not_break_the_list(tmp_path: Path) -> None:
    cache = make_cache(tmp_path, {"a.md": "alpha"})
    (cache / "manifest.json").write_text("{}")
    (tmp_path / REGISTRY).write_text("nonsense")
    listed = [each for each in Describer().describe(str(tmp_path))["caches"] if each["path"] == "cache"]

    assert listed == [{"path": "cache", "has_manifest": True}]


def test_sources_are_read_as_they_were_written(tmp_path: Path) -> None:
    assert read_sources(tmp_path) == {}

    write_sources(tmp_path, {"b": DJANGO, "a": NamedSource(source="/docs")})

    assert read_sources(tmp_path) == {"a": NamedSource(source="/docs"), "b": DJANGO}
    assert [path.name for path in tmp_path.iterdir()] == [REGISTRY]


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"sources": []}', '{"sources": {"a": 1}}', '{"sources": {"a": {"title": 1}}}']
)
def test_a_malformed_file_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / REGISTRY).write_text(text)

    with pytest.raises(BadRegistry):
        read_sources(tmp_path)


@pytest.mark.parametrize(
    ("name", "good"),
    [
        ("django-5.2", True),
        ("@scope", True),
        ("a", True),
        ("", False),
        (".x", False),
        ("a/b", False),
        ("a..b", False),
        ("x" * 101, False),
    ],
)
def test_names_of_sources(name: str, good: bool) -> None:
    assert is_source_name(name) is good

"""list_caches and the two variants of inspect (rules 1.13, 1.14; 1.12.10 to 1.12.14)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.packs.context.caches import edit_json, make_cache, only_document_file, open_folder, unprivileged

from strictwire.packs.context.inspection import Inspection, inspect_fully, inspect_leniently, list_caches
from strictwire.packs.context.rules import Unusable


@pytest.mark.v0("1.14.1", "1.14.2")
def test_real_directories_are_listed_by_name_and_whether_they_have_a_manifest(tmp_path: Path) -> None:
    make_cache(tmp_path / "x", {"a.md": "alpha"})
    root = tmp_path / "root"
    for name in ("b", "a", ".hidden", "Z"):
        (root / name).mkdir(parents=True)
    (tmp_path / "x" / "cache").rename(root / "valid")
    (root / "a" / "manifest.json").symlink_to(root / "valid" / "manifest.json")
    (root / "b" / "manifest.json").mkdir()
    (root / "file").write_text("")
    (root / "link").symlink_to(root / "valid")

    assert list_caches(str(root)) == {
        "caches": [
            {"path": ".hidden", "has_manifest": False},
            {"path": "Z", "has_manifest": False},
            {"path": "a", "has_manifest": False},
            {"path": "b", "has_manifest": False},
            {"path": "valid", "has_manifest": True},
        ]
    }


def test_a_name_that_is_not_utf_8_is_listed_with_replacement_characters(tmp_path: Path) -> None:
    os.mkdir(os.fsencode(tmp_path) + b"/\xff")  # noqa: PTH102 - a name that no Path can hold

    assert list_caches(str(tmp_path)) == {"caches": [{"path": "\ufffd", "has_manifest": False}]}


@pytest.mark.v0("1.12.13")
@pytest.mark.parametrize("make", ["absent", "file"])
def test_a_root_that_is_not_a_directory_is_a_missing_cache(tmp_path: Path, make: str) -> None:
    root = tmp_path / make
    if make == "file":
        root.write_text("")
    with pytest.raises(Unusable) as caught:
        list_caches(str(root))

    assert caught.value.failure.code == "CACHE_MISSING"


@pytest.mark.v0("1.14.2")
def test_a_directory_that_cannot_be_entered_is_an_io_error() -> None:
    with open_folder() as folder:
        (folder / "closed").mkdir(mode=0)
        with unprivileged(), pytest.raises(Unusable) as caught:
            list_caches(str(folder))

    assert caught.value.failure.code == "IO_ERROR"


@pytest.mark.v0("1.12.10")
def test_the_tool_counts_files_beside_the_manifest_and_the_command_counts_documents(tmp_path: Path) -> None:
    cache = make_cache(tmp_path, {"a.md": "alpha"})
    (cache / "link").symlink_to(cache / "manifest.json")
    beside = (cache / "manifest.json").stat().st_size + (cache / "index.json").stat().st_size
    version = inspect_leniently(cache).cache_version

    assert version.startswith("sha256:")
    assert inspect_leniently(cache) == Inspection(cache_version=version, document_count=1, total_bytes=beside, valid=True)
    assert inspect_fully(cache) == Inspection(
        cache_version=version, document_count=1, total_bytes=only_document_file(cache).stat().st_size, valid=True
    )


@pytest.mark.v0("1.13.2", "1.12.14")
@pytest.mark.parametrize(
    ("manifest", "expected"),
    [
        ('{"cache_version":"v1","document_count":3}', ("v1", 3, 41, True)),
        ('{"cache_version":"v1"}', ("v1", 0, 0, False)),
        ('{"document_count":3}', ("", 3, 0, False)),
        ('{"cache_version":1,"document_count":-1}', ("", 0, 0, False)),
        ('{"cache_version":"v1","document_count":3.0}', ("v1", 0, 0, False)),
        ("{", ("", 0, 0, False)),
        ("[]", ("", 0, 0, False)),
        (None, ("", 0, 0, False)),
    ],
)
def test_the_tool_reads_a_manifest_leniently(
    tmp_path: Path, manifest: str | None, expected: tuple[str, int, int, bool]
) -> None:
    if manifest is not None:
        (tmp_path / "manifest.json").write_text(manifest)
    version, count, size, valid = expected

    assert inspect_leniently(tmp_path) == Inspection(
        cache_version=version, document_count=count, total_bytes=size, valid=valid
    )


@pytest.mark.v0("1.13.3")
def test_an_unreadable_manifest_is_an_io_error() -> None:
    with open_folder() as folder:
        (folder / "manifest.json").write_text("{}")
        (folder / "manifest.json").chmod(0)
        with unprivileged(), pytest.raises(Unusable) as caught:
            inspect_leniently(folder)

    assert caught.value.failure.code == "IO_ERROR"


@pytest.mark.v0("1.12.11")
def test_the_command_finds_violations_that_the_tool_does_not_check(tmp_path: Path) -> None:
    cache = make_cache(tmp_path, {"a.md": "alpha"})
    size = only_document_file(cache).stat().st_size
    edit_json(only_document_file(cache), version="sha256:0")
    changed = only_document_file(cache).stat().st_size

    assert inspect_leniently(cache).valid
    assert (inspect_fully(cache).valid, inspect_fully(cache).total_bytes) == (False, changed)
    assert size != changed

    only_document_file(cache).unlink()

    assert (inspect_fully(cache).valid, inspect_fully(cache).total_bytes) == (False, 0)

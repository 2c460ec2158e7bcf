"""Every violation of a cache has its documented code, the same in load, verify and inspect (rules 1.10; clause R4)."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.packs.context.caches import edit_json, make_cache, only_document_file, open_folder, snapshot, unprivileged

from strictwire.canon.json import indent, parse_object, render
from strictwire.packs.context import layout
from strictwire.packs.context.inspection import find_violations
from strictwire.packs.context.layout import cache_version_of, file_of, version_of
from strictwire.packs.context.library import load_generation
from strictwire.packs.context.rules import RULES, Unusable

Break = Callable[[Path], object]


def _manifest(**changes: object) -> Break:
    return lambda cache: edit_json(cache / "manifest.json", **changes)


def _document(**changes: object) -> Break:
    return lambda cache: edit_json(only_document_file(cache), **changes)


def _entry(**changes: object) -> Break:
    def change(cache: Path) -> None:
        manifest = parse_object((cache / "manifest.json").read_bytes())
        manifest["documents"][0].update(changes)
        (cache / "manifest.json").write_bytes(render(manifest))

    return change


def _twice(cache: Path) -> None:
    manifest = parse_object((cache / "manifest.json").read_bytes())
    manifest["documents"] *= 2
    manifest["document_count"] = 2
    manifest["cache_version"] = cache_version_of((each["id"], each["version"]) for each in manifest["documents"])
    (cache / "manifest.json").write_bytes(render(manifest))


def _replace_by_link(cache: Path) -> None:
    document = only_document_file(cache)
    shutil.move(document, cache.parent / "elsewhere.json")
    document.symlink_to(cache.parent / "elsewhere.json")


def _replace_by_folder(cache: Path) -> None:
    document = only_document_file(cache)
    document.unlink()
    document.mkdir()


BREAKS: dict[str, tuple[Break, str]] = {
    "no manifest": (lambda cache: (cache / "manifest.json").unlink(), "MANIFEST_EXISTS"),
    "manifest is a directory": (
        lambda cache: ((cache / "manifest.json").unlink(), (cache / "manifest.json").mkdir()),
        "MANIFEST_EXISTS",
    ),
    "manifest is not JSON": (lambda cache: (cache / "manifest.json").write_text("{"), "MANIFEST_SHAPE"),
    "manifest has a bad date": (_manifest(created_at="now"), "MANIFEST_SHAPE"),
    "unknown build version": (_manifest(build_config={"version": "2", "hash_algorithm": "sha256"}), "BUILD_CONFIG_KNOWN"),
    "unknown hash": (_manifest(build_config={"version": "1", "hash_algorithm": "md5"}), "BUILD_CONFIG_KNOWN"),
    "wrong count": (_manifest(document_count=2), "COUNT_MATCHES"),
    "wrong cache version": (_manifest(cache_version="sha256:" + "0" * 64), "CACHE_VERSION_MATCHES"),
    "same id twice": (_twice, "IDS_ASCEND"),
    "file leads out": (_entry(file="../../secret.json"), "FILE_NAMED_BY_HASH"),
    "file is absolute": (_entry(file="/etc/hostname"), "FILE_NAMED_BY_HASH"),
    "file is not named by its hash": (_entry(file="documents/000000000000.json"), "FILE_NAMED_BY_HASH"),
    "version is no hash": (_entry(version="sha256:abc", file="documents/abc.json"), "VERSION_IS_A_HASH"),
    "index absent": (lambda cache: (cache / "index.json").unlink(), "INDEX_MATCHES"),
    "index disagrees": (lambda cache: (cache / "index.json").write_text('{"b.md":"x"}'), "INDEX_MATCHES"),
    "index malformed": (lambda cache: (cache / "index.json").write_text("["), "INDEX_MATCHES"),
    "orphan": (lambda cache: (cache / "documents" / "orphan.json").write_text("{}"), "NO_ORPHANS"),
    "documents absent": (lambda cache: shutil.rmtree(cache / "documents"), "DOCUMENT_EXISTS"),
    "document absent": (lambda cache: only_document_file(cache).unlink(), "DOCUMENT_EXISTS"),
    "document is a link": (_replace_by_link, "DOCUMENT_EXISTS"),
    "document is a folder": (_replace_by_folder, "DOCUMENT_EXISTS"),
    "document malformed": (lambda cache: only_document_file(cache).write_bytes(b"\xff"), "DOCUMENT_SHAPE"),
    "document lacks a field": (lambda cache: only_document_file(cache).write_text('{"id":"a.md"}'), "DOCUMENT_SHAPE"),
    "document has another id": (_document(id="b.md"), "DOCUMENT_ID_MATCHES"),
    "document has another version": (_document(version="sha256:0"), "DOCUMENT_VERSION_MATCHES"),
    "content changed": (_document(content="other"), "CONTENT_HASH_MATCHES"),
}


@pytest.mark.v0(
    "1.10.4",
    "1.10.6",
    "1.10.7",
    "1.10.8",
    "1.10.10",
    "1.10.11",
    "1.10.12",
    "1.10.13",
    "1.10.14",
    "1.10.15",
    "1.10.17",
    "1.11.4",
    "1.12.1",
)
@pytest.mark.clause("R4")
@pytest.mark.parametrize("case", BREAKS)
def test_a_broken_cache_is_refused_with_its_rule_and_nothing_is_written(tmp_path: Path, case: str) -> None:
    do_break, rule = BREAKS[case]
    cache = make_cache(tmp_path, {"a.md": "alpha"})
    do_break(cache)
    before = snapshot(cache)

    with pytest.raises(Unusable) as caught:
        load_generation(cache)

    assert (caught.value.rule.id, caught.value.failure.code) == (rule, "CACHE_INVALID")
    assert rule in [each.rule.id for each in find_violations(cache)]
    assert snapshot(cache) == before


@pytest.mark.v0("1.10.15")
def test_unsorted_entries_are_refused(tmp_path: Path) -> None:
    cache = make_cache(tmp_path, {"a.md": "alpha", "b.md": "beta"})
    manifest = parse_object((cache / "manifest.json").read_bytes())
    manifest["documents"].reverse()
    manifest["cache_version"] = cache_version_of((each["id"], each["version"]) for each in manifest["documents"])
    (cache / "manifest.json").write_bytes(render(manifest))

    with pytest.raises(Unusable) as caught:
        load_generation(cache)

    assert caught.value.rule.id == "IDS_ASCEND"


@pytest.mark.v0("1.8.2")
def test_a_valid_cache_is_loaded_in_order_of_id(tmp_path: Path) -> None:
    cache = make_cache(tmp_path, {"B.md": "beta", "a.md": "alpha", "x.txt": "not taken"})
    generation = load_generation(cache)
    index = generation.index

    assert [index.document(number) for number in range(len(index))] == [
        {"id": "a.md", "version": version_of(b"alpha"), "content": "alpha"},
        {"id": "b.md", "version": version_of(b"beta"), "content": "beta"},
    ]
    assert [index.source(number, index.document(number)["id"]) for number in range(len(index))] == ["a.md", "B.md"]
    assert generation.cache_version == cache_version_of([("a.md", version_of(b"alpha")), ("b.md", version_of(b"beta"))])
    assert find_violations(cache) == []


@pytest.mark.v0("1.1.5")
def test_the_early_form_of_the_index_is_valid(tmp_path: Path) -> None:
    cache = make_cache(tmp_path, {"a.md": "alpha"})
    flat = parse_object((cache / "index.json").read_bytes())
    (cache / "index.json").write_bytes(indent(render({"entries": flat})))

    assert find_violations(cache) == []


def test_an_empty_cache_is_valid(tmp_path: Path) -> None:
    assert find_violations(make_cache(tmp_path, {})) == []


@pytest.mark.v0("1.10.5", "1.10.9")
@pytest.mark.clause("R4")
@pytest.mark.parametrize("part", ["manifest.json", "index.json", "documents", "document"])
def test_a_read_error_of_the_system_is_an_io_error(part: str) -> None:
    with open_folder() as folder:
        cache = make_cache(folder, {"a.md": "alpha"})
        target = only_document_file(cache) if part == "document" else cache / part
        target.chmod(0)
        with unprivileged(), pytest.raises(Unusable) as caught:
            load_generation(cache)
        target.chmod(0o700)

    assert (caught.value.rule.id, caught.value.failure.code) == ("READABLE", "IO_ERROR")


def test_a_manifest_of_ten_million_entries_is_refused_without_being_read(tmp_path: Path) -> None:
    """Ten million entries are about 1.8 GB; a sparse file of that size stands for them."""
    cache = make_cache(tmp_path, {"a.md": "alpha"})
    with (cache / "manifest.json").open("r+b") as file:
        file.truncate(1_800_000_000)

    assert [each.rule.id for each in find_violations(cache)] == ["MANIFEST_SIZE"]


def test_a_document_of_a_gigabyte_is_refused_without_being_read(tmp_path: Path) -> None:
    cache = make_cache(tmp_path, {"a.md": "alpha"})
    with only_document_file(cache).open("r+b") as file:
        file.truncate(layout.MAX_DOCUMENT_BYTES + 1)

    assert [each.rule.id for each in find_violations(cache)] == ["DOCUMENT_SIZE"]


def test_verify_names_every_violation(tmp_path: Path) -> None:
    cache = make_cache(tmp_path, {"a.md": "alpha", "b.md": "beta"})
    edit_json(cache / "manifest.json", document_count=7)
    (cache / "documents" / "orphan").write_text("")
    (cache / file_of(version_of(b"beta"))).unlink()

    assert [(each.rule.id, each.subject) for each in find_violations(cache)] == [
        ("COUNT_MATCHES", "manifest.json"),
        ("NO_ORPHANS", "orphan"),
        ("DOCUMENT_EXISTS", file_of(version_of(b"beta")).rpartition("/")[2]),
    ]


def test_every_rule_has_a_purpose_and_a_v0_code() -> None:
    assert all(rule.purpose.startswith("Checks that ") for rule in RULES.values())
    assert {rule.code for rule in RULES.values()} == {"CACHE_MISSING", "CACHE_INVALID", "IO_ERROR"}

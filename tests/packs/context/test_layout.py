"""File formats of a cache: strict parsing and exact writing (rules 1.1, 1.4, 1.9)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from strictwire.packs.context.layout import (
    Document,
    Malformed,
    ManifestEntry,
    cache_version_of,
    file_of,
    parse_document,
    parse_index,
    parse_manifest,
    render_document,
    render_index,
    render_manifest,
    render_time,
    version_of,
)

EMPTY = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
MANIFEST = {
    "cache_version": '"sha256:x"',
    "build_config": '{"version":"1","hash_algorithm":"sha256"}',
    "created_at": '"2026-01-02T03:04:05Z"',
    "document_count": "1",
    "documents": '[{"id":"a","version":"v","file":"f"}]',
}
DOCUMENT = {"id": '"a"', "version": '"v"', "source": '"A"', "content": '"text"', "metadata": "{}"}


def written(members: dict[str, str], **changes: str | None) -> bytes:
    merged = {**members, **changes}
    return ("{" + ",".join(f'"{name}":{value}' for name, value in merged.items() if value is not None) + "}").encode()


@pytest.mark.v0("1.2.7", "1.1.3")
def test_a_version_is_the_hash_of_the_content_only() -> None:
    assert version_of(b"") == EMPTY
    assert file_of(EMPTY) == "documents/e3b0c44298fc.json"


@pytest.mark.v0("1.4.1")
def test_the_version_of_an_empty_cache_is_the_hash_of_the_build_config() -> None:
    """The SHA-256 of the 41 bytes {"version":"1","hash_algorithm":"sha256"}."""
    assert cache_version_of([]) == version_of(b'{"version":"1","hash_algorithm":"sha256"}')


@pytest.mark.v0("1.4.1")
def test_the_version_of_a_cache_joins_ids_and_versions_without_separators() -> None:
    assert cache_version_of([("a", "sha256:1"), ("b", "sha256:2")]) == version_of(
        b'{"version":"1","hash_algorithm":"sha256"}a:sha256:1b:sha256:2'
    )


@pytest.mark.v0("1.1.1", "1.1.3", "1.9.1")
def test_a_manifest_is_written_pretty_in_its_fixed_order_without_a_newline() -> None:
    raw = render_manifest([("é.md", EMPTY)], "2026-01-02T03:04:05Z")

    assert raw.decode() == (
        "{\n"
        f'  "cache_version": "{cache_version_of([("é.md", EMPTY)])}",\n'
        '  "build_config": {\n    "version": "1",\n    "hash_algorithm": "sha256"\n  },\n'
        '  "created_at": "2026-01-02T03:04:05Z",\n'
        '  "document_count": 1,\n'
        '  "documents": [\n    {\n      "id": "é.md",\n'
        f'      "version": "{EMPTY}",\n      "file": "documents/e3b0c44298fc.json"\n    }}\n  ]\n'
        "}"
    )


@pytest.mark.v0("1.1.4", "1.9.1")
def test_an_empty_cache_is_written_with_empty_containers() -> None:
    assert b'"documents": []' in render_manifest([], "2026-01-02T03:04:05Z")
    assert render_index([]) == b"{}"


@pytest.mark.v0("1.1.4")
def test_an_index_is_a_flat_pretty_object() -> None:
    assert render_index([("a", EMPTY)]) == b'{\n  "a": "documents/e3b0c44298fc.json"\n}'


@pytest.mark.v0("1.1.6", "1.9.1", "1.9.2")
def test_a_document_is_written_compact_with_sorted_metadata() -> None:
    document = Document(
        id="a", version="v", source="A", content='\x00\x1f\x7f"\\/\b\f\n\r\té\u2028', metadata={"z": 1, "b": "x"}
    )

    assert render_document(document).decode() == (
        '{"id":"a","version":"v","source":"A","content":"\\u0000\\u001f\x7f\\"\\\\/\\b\\f\\n\\r\\té\u2028","metadata":{"b":"x","z":1}}'
    )


@pytest.mark.v0("1.1.2")
@pytest.mark.parametrize(
    ("microsecond", "expected"),
    [(0, "03:04:05Z"), (6000, "03:04:05.006Z"), (120, "03:04:05.000120Z")],
)
def test_a_time_has_the_fewest_fraction_digits_without_loss(microsecond: int, expected: str) -> None:
    moment = datetime(2026, 1, 2, 4, 4, 5, microsecond, tzinfo=timezone(timedelta(hours=1)))

    assert render_time(moment) == f"2026-01-02T{expected}"
    assert render_time(moment.astimezone(UTC)) == f"2026-01-02T{expected}"


@pytest.mark.v0("1.9.5")
def test_a_manifest_is_read_and_unknown_keys_are_ignored() -> None:
    manifest = parse_manifest(written(MANIFEST, extra="[1]"))

    assert (manifest.document_count, manifest.documents) == (1, (ManifestEntry("a", "v", "f"),))


@pytest.mark.v0("1.10.6")
@pytest.mark.parametrize("name", MANIFEST)
def test_a_manifest_without_a_field_is_malformed(name: str) -> None:
    with pytest.raises(Malformed):
        parse_manifest(written(MANIFEST, **{name: None}))


@pytest.mark.v0("1.9.4", "1.9.5", "1.10.6")
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("document_count", "1.0"),
        ("document_count", "1e0"),
        ("document_count", "-0"),
        ("document_count", "-1"),
        ("document_count", "true"),
        ("document_count", "18446744073709551616"),
        ("cache_version", "1"),
        ("build_config", '{"version":1,"hash_algorithm":"sha256"}'),
        ("build_config", '{"version":"1"}'),
        ("documents", "{}"),
        ("documents", "[1]"),
        ("documents", '[{"id":"a","version":"v"}]'),
        ("created_at", '"yesterday"'),
        ("created_at", '"2026-13-01T00:00:00Z"'),
        ("created_at", '"2026-02-30T00:00:00Z"'),
        ("created_at", '"2026-01-01T00:00:00"'),
        ("created_at", '"2026-01-01T25:00:00Z"'),
        ("created_at", '"2026-01-01T00:00:61Z"'),
        ("created_at", '"2026-01-01T00:00:00+24:00"'),
        ("cache_version", '"a","cache_version":"b"'),
        ("cache_version", '"\\ud800"'),
        ("cache_version", "NaN"),
    ],
)
def test_a_manifest_with_a_wrong_value_is_malformed(name: str, value: str) -> None:
    with pytest.raises(Malformed):
        parse_manifest(written(MANIFEST, **{name: value}))


@pytest.mark.parametrize(
    "text", ["2026-01-01T00:00:00Z", "2026-01-01t00:00:00.123456789z", "2026-01-01 00:00:00-23:59", "2016-12-31T23:59:60Z"]
)
def test_a_manifest_accepts_any_rfc_3339_time(text: str) -> None:
    assert parse_manifest(written(MANIFEST, created_at=f'"{text}"')).created_at == text


@pytest.mark.v0("1.9.4")
@pytest.mark.parametrize(
    "raw", [b"", b"[]", b"\xef\xbb\xbf{}", b"{} x", b'{"a":"\xff"}', b'{"a":' + b"[" * 200 + b"]" * 200 + b"}"]
)
def test_anything_but_one_strict_json_object_is_malformed(raw: bytes) -> None:
    for parse in (parse_manifest, parse_document):
        with pytest.raises(Malformed):
            parse(raw)


@pytest.mark.v0("1.1.5")
def test_an_index_is_read_in_both_forms() -> None:
    assert parse_index(b'{"a":"f"}') == {"a": "f"}
    assert parse_index(b'{"entries":{"a":"f"}}') == {"a": "f"}
    assert parse_index(b'{"entries":"f"}') == {"entries": "f"}
    with pytest.raises(Malformed):
        parse_index(b'{"a":1}')


def test_a_document_is_read_back_as_it_was_written() -> None:
    document = Document(id="a", version="v", source="A", content="x", metadata={"n": -(1 << 63), "s": ""})

    assert parse_document(render_document(document)) == document


@pytest.mark.v0("1.1.6")
@pytest.mark.parametrize(
    "metadata", ['{"a":1.5}', '{"a":true}', '{"a":null}', '{"a":{}}', '{"a":9223372036854775808}', "[]"]
)
def test_metadata_holds_only_strings_and_signed_integers(metadata: str) -> None:
    with pytest.raises(Malformed):
        parse_document(written(DOCUMENT, metadata=metadata))


@pytest.mark.parametrize("name", DOCUMENT)
def test_a_document_without_a_field_is_malformed(name: str) -> None:
    with pytest.raises(Malformed):
        parse_document(written(DOCUMENT, **{name: None}))

"""Full mode on generated projects: what was written is what is read, and damaged files never give anything else."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import pytest
from tests.packs.unity.writer_random import random_project
from tests.packs.unity.writer_yaml import Flow, Ref, number_text

from strictwire.packs.unity.yaml.document import DocumentReader, read_documents, read_mapping
from strictwire.packs.unity.yaml.faults import Fault, Malformed
from strictwire.packs.unity.yaml.index import index_documents

HEAD = b"%YAML 1.1\n%TAG !u! tag:unity3d.com,2011:\n"


def as_read(value: Any) -> Any:
    """What the reader should give for a value of the writer."""
    if isinstance(value, Ref | Flow):
        return dict(value.pairs())
    if isinstance(value, Mapping):
        return {key: as_read(part) for key, part in value.items()}
    if isinstance(value, str):
        return value
    return [as_read(part) for part in value] if isinstance(value, list | tuple) else number_text(value)


@pytest.mark.parametrize("seed", range(25))
def test_generated_documents_round_trip(seed: int) -> None:
    builder = random_project(seed, odd=0.4)
    files = builder.finish()
    for path, documents in builder.documents.items():
        written = [(each.class_id, each.file_id, each.type_name, as_read(each.body)) for each in documents]
        found = read_documents(files[path])

        assert [(each.header.class_id, each.header.file_id, each.type_name, each.fields) for each in found] == written, path


@pytest.mark.parametrize("seed", range(5))
def test_line_ends_and_a_byte_order_mark_change_nothing(seed: int) -> None:
    builder = random_project(seed)
    for path in builder.documents:
        raw = builder.files[path]
        marked = b"\xef\xbb\xbf" + raw.replace(b"\n", b"\r\n")

        assert [each[1:] for each in read_documents(marked)] == [each[1:] for each in read_documents(raw)]


def test_meta_files_are_read_without_documents() -> None:
    raw = b"fileFormatVersion: 2\r\nguid: 0123\r\nTextureImporter:\r\n  mipmaps:\r\n    enable: 1\r\n  userData: \r\n"

    assert read_mapping(b"\xef\xbb\xbf" + raw) == {
        "fileFormatVersion": "2",
        "guid": "0123",
        "TextureImporter": {"mipmaps": {"enable": "1"}, "userData": ""},
    }


def test_single_documents_can_be_read() -> None:
    raw = HEAD + b"--- !u!1 &1\nA:\n  k: 1\n--- !u!2 &2\nB:\n  k: 2\n"
    first, second = index_documents(raw)

    assert DocumentReader(raw).read(second).fields == {"k": "2"}
    assert [each.type_name for each in read_documents(raw, [second, first])] == ["B", "A"]


@pytest.mark.parametrize(
    ("body", "fault", "line"),
    [
        (b"", Fault.TRUNCATED, 4),
        (b"GameObject:\n", Fault.TRUNCATED, 4),
        (b"GameObject: 1\n", Fault.BAD_VALUE, 4),
        (b"A:\n  k: 1\nB:\n  k: 1\n", Fault.BAD_LINE, 4),
        (b"A:\n  k: 'x\n", Fault.TRUNCATED, 5),
        (b"A:\n  k: 1\n\tl: 2\n", Fault.BAD_LINE, 4),
        (b"A:\n  k: \xff\n", Fault.NOT_UTF8, 5),
        (b"A:\n  k: 1\n<<<<<<< HEAD\n", Fault.BAD_LINE, 6),
    ],
)
def test_a_damaged_document_is_refused_with_its_line_and_id(body: bytes, fault: Fault, line: int) -> None:
    raw = HEAD + b"--- !u!1 &77\n" + body
    with pytest.raises(Malformed) as caught:
        list(read_documents(raw))

    found = caught.value.problem
    assert (found.fault, found.line, found.file_id) == (fault, line, 77)


def test_bytes_that_are_not_text_are_no_mapping() -> None:
    with pytest.raises(Malformed) as caught:
        read_mapping(b"a: 1\nb: \xff\n")

    assert (caught.value.problem.fault, caught.value.problem.line) == (Fault.NOT_UTF8, 2)


DAMAGE = (b"", b"\n", b"  ", b"'", b"{", b"- ", b": ", b"\xff", b"\x00")


@pytest.mark.parametrize("seed", range(4))
def test_random_damage_is_malformed_or_readable_and_nothing_else(seed: int) -> None:
    """Bytes changed, removed, doubled and cut: whatever comes of it, no other exception does."""
    rng = random.Random(seed)
    raw = random_project(seed).files["Assets/Scenes/S0.unity"]
    outcomes = set()
    for _ in range(400):
        damaged = bytearray(raw)
        for _ in range(rng.randrange(1, 4)):
            at = rng.randrange(len(damaged))
            damaged[at : at + rng.randrange(40)] = rng.choice(DAMAGE)
        whole = bytes(damaged[: rng.randrange(len(damaged))] if rng.random() < 0.3 else damaged)
        try:
            outcomes.update(type(document.fields) for document in read_documents(whole))
        except Malformed as exc:
            outcomes.add(type(exc.problem.fault))

    assert outcomes == {dict, Fault}

"""The header index, and the damage that is found without reading documents."""

from __future__ import annotations

import time

import pytest

from strictwire.packs.unity.yaml.faults import Fault, Problem
from strictwire.packs.unity.yaml.index import MAX_PROBLEMS, Header, find_problems, index_documents, line_of

HEAD = b"%YAML 1.1\n%TAG !u! tag:unity3d.com,2011:\n"
ONE = b"--- !u!1 &123\nGameObject:\n  m_Name: a\n"


def problems(raw: bytes) -> list[tuple[Fault, int, int | None]]:
    return [(each.fault, each.line, each.file_id) for each in find_problems(raw, index_documents(raw))]


def test_headers_have_class_id_and_offsets() -> None:
    raw = HEAD + ONE + b"--- !u!4 &-9223372036854775808 stripped\nTransform:\n  m_X: 1\n"
    second = raw.index(b"--- !u!4")

    assert index_documents(raw) == (
        Header(1, 123, False, len(HEAD), len(HEAD) + 14, second),
        Header(4, -(2**63), True, second, second + 40, len(raw)),
    )
    assert line_of(raw, second) == 6


@pytest.mark.parametrize("raw", [b"", HEAD, b"text", b"---"])
def test_a_text_without_documents_has_none(raw: bytes) -> None:
    assert index_documents(raw) == ()


def test_line_ends_and_byte_order_marks_do_not_matter() -> None:
    for raw in (HEAD + ONE, b"\xef\xbb\xbf" + HEAD + ONE, (HEAD + ONE).replace(b"\n", b"\r\n"), ONE):
        (header,) = index_documents(raw)

        assert (header.class_id, header.file_id, header.end) == (1, 123, len(raw))
        assert raw[header.body :].lstrip().startswith(b"GameObject:")


@pytest.mark.parametrize(
    ("raw", "found"),
    [
        (HEAD + ONE, []),
        (HEAD + ONE + ONE, [(Fault.DUPLICATE_ID, 6, 123)]),
        (HEAD + ONE[:-1], [(Fault.TRUNCATED, 5, 123)]),
        (HEAD + b"--- !u!1 &123\n", [(Fault.TRUNCATED, 4, 123)]),
        (HEAD + b"--- !u!1 &123", [(Fault.TRUNCATED, 3, 123)]),
        (HEAD + b"--- !u!1 &9223372036854775808\nGameObject:\n", [(Fault.ID_OUT_OF_RANGE, 3, None)]),
        (HEAD + b"--- !u!1 &" + b"9" * 400 + b"\nGameObject:\n", [(Fault.ID_OUT_OF_RANGE, 3, None)]),
        (HEAD + b"--- !u!x &1\nGameObject:\n", [(Fault.BAD_HEADER, 3, None)]),
        (HEAD + b"--- \n" + ONE, [(Fault.BAD_HEADER, 3, None)]),
        (
            HEAD + b"<<<<<<< HEAD\n" + ONE + b"=======\n>>>>>>> theirs\n",
            [(Fault.CONFLICT_MARKER, 3, None), (Fault.CONFLICT_MARKER, 7, None), (Fault.CONFLICT_MARKER, 8, None)],
        ),
        (HEAD + b"--- !u!1 &1\nA:\n  m_Text: ======= <<<<<<< no\n", []),
        (HEAD + ONE + b"========\n", []),
    ],
)
def test_damage_of_the_whole_file(raw: bytes, found: list[tuple[Fault, int, int | None]]) -> None:
    assert problems(raw) == found


def test_a_problem_says_where_it_is() -> None:
    assert str(Problem(Fault.DUPLICATE_ID, 6, 123)) == "duplicate file id at line 6 (fileID 123)"
    assert str(Problem(Fault.TRUNCATED, 2)) == "truncated at line 2"


def test_thousands_of_problems_take_little_time() -> None:
    raw = HEAD + ONE * 50_000 + b"<<<<<<< HEAD\n" * 50_000
    began = time.thread_time()
    found = find_problems(raw, index_documents(raw))

    assert len(found) == 2 * MAX_PROBLEMS
    assert time.thread_time() - began < 5

"""The lock file: deterministic, written atomically, refused if edited by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from strictwire.canon.json import parse_object, render
from strictwire.check.subject import Subject
from strictwire.contract.fingerprint import fingerprint
from strictwire.contract.safety import Safety
from strictwire.contract.tool import Caps
from strictwire.sources.folder import read_folder
from strictwire.sources.lock import parse_lock, read_lock, read_pins, render_lock, write_lock
from strictwire.sources.refused import SourceRefused
from tests.sources.project import write_project


@pytest.fixture
def subjects(tmp_path: Path) -> tuple[Subject, ...]:
    one = read_folder(write_project(tmp_path)).subjects[0]
    terms = replace(one.contract, name="b", safety=Safety.MUTATING, roles=frozenset({"x"}), caps=Caps(timeout_ms=5))
    return one, replace(one, contract=terms)


def test_a_lock_file_preserves_contracts_and_their_terms(subjects: tuple[Subject, ...]) -> None:
    tools = parse_lock(render_lock(subjects), "strictwire.lock")

    assert {each.contract.name: each.contract for each in tools.subjects} == {
        each.contract.name: each.contract for each in subjects
    }
    assert all(each.has_terms for each in tools.subjects)


def test_the_order_of_tools_does_not_change_a_lock_file(subjects: tuple[Subject, ...]) -> None:
    assert render_lock(subjects) == render_lock(tuple(reversed(subjects)))


def test_pins_are_the_fingerprints_of_the_contracts(subjects: tuple[Subject, ...]) -> None:
    lock = read_pins(parse_lock(render_lock(subjects), "l"))

    assert lock.pins == {each.contract.name: fingerprint(each.contract) for each in subjects}


def test_an_entry_that_was_edited_is_refused(subjects: tuple[Subject, ...]) -> None:
    value = parse_object(render_lock(subjects))
    value["tools"]["read"]["tool"]["description"] = "Other."

    with pytest.raises(SourceRefused, match="edited by hand"):
        parse_lock(render(value), "strictwire.lock")


@pytest.mark.parametrize(
    "raw",
    [b"", b"[]", b"{}", b'{"lock": 2, "fingerprint": 1, "tools": {}}', b'{"lock": 1, "fingerprint": 1, "tools": []}',
     b'{"lock": 1, "fingerprint": 1, "tools": {"a": 1}}', b'{"lock": 1, "fingerprint": 1, "tools": {"a": {"tool": {}}}}'],
)  # fmt: skip
def test_a_file_that_is_not_a_lock_file_is_refused(raw: bytes) -> None:
    with pytest.raises(SourceRefused):
        parse_lock(raw, "strictwire.lock")


def test_a_lock_file_is_written_atomically(subjects: tuple[Subject, ...], tmp_path: Path) -> None:
    path = tmp_path / "strictwire.lock"
    write_lock(path, subjects)

    assert path.read_bytes() == render_lock(subjects)
    assert read_lock(path).label == str(path)
    with pytest.raises(SourceRefused):
        write_lock(tmp_path / "absent" / "strictwire.lock", subjects)
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith(".strictwire")] == []

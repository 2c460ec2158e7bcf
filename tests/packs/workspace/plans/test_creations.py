"""Records of who created a plan: durable, signed, and the first one stays."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from strictwire.packs.workspace.plans.approval import Creation, open_signer
from strictwire.packs.workspace.plans.creations import Creations

MADE = Creation(plan_hash="a" * 64, workspace="b" * 64, author="ada", created_at="2026-01-01T00:00:00Z")


def open_creations(folder: Path) -> Creations:
    return Creations(folder / "creations", open_signer(folder / "key"))


def test_a_record_is_found_after_a_restart_and_the_first_one_stays(tmp_path: Path) -> None:
    assert open_creations(tmp_path).maybe_find(MADE.workspace, MADE.plan_hash) is None
    open_creations(tmp_path).add(MADE)
    open_creations(tmp_path).add(replace(MADE, author="mallory"))

    assert open_creations(tmp_path).maybe_find(MADE.workspace, MADE.plan_hash) == MADE
    assert [path.name for path in (tmp_path / "creations" / MADE.workspace).iterdir()] == [f"{MADE.plan_hash}.json"]


@pytest.mark.parametrize(
    ("old", "new"), [(b'"ada"', b'"bob"'), (b"2026-01", b"2027-01"), (b'"author"', b'"auth0r"'), (b"{", b"["), (b'"', b"")]
)
def test_a_record_that_was_changed_counts_for_nothing(tmp_path: Path, old: bytes, new: bytes) -> None:
    open_creations(tmp_path).add(MADE)
    path = next((tmp_path / "creations").rglob("*.json"))
    raw = path.read_bytes()
    assert old in raw
    path.write_bytes(raw.replace(old, new, 1))

    assert open_creations(tmp_path).maybe_find(MADE.workspace, MADE.plan_hash) is None


def test_a_record_of_another_plan_workspace_or_key_counts_for_nothing(tmp_path: Path) -> None:
    creations = open_creations(tmp_path)
    creations.add(MADE)
    path = next((tmp_path / "creations").rglob("*.json"))
    shutil.copy(path, path.with_name("c" * 64 + ".json"))
    shutil.copytree(path.parent, path.parent.with_name("d" * 64))
    other = Creations(tmp_path / "creations", open_signer(tmp_path / "other"))

    assert creations.maybe_find(MADE.workspace, "c" * 64) is None
    assert creations.maybe_find("d" * 64, MADE.plan_hash) is None
    assert other.maybe_find(MADE.workspace, MADE.plan_hash) is None


def test_an_approval_cannot_be_passed_off_as_a_creation(tmp_path: Path) -> None:
    signer = open_signer(tmp_path / "key")

    assert signer.verifier.maybe_approval(signer.sign_creation(MADE)) is None
    assert signer.verifier.maybe_creation(signer.sign_creation(MADE)) == MADE

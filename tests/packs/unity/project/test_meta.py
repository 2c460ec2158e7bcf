"""GUIDs of .meta files, and which of them a person made up."""

from __future__ import annotations

from random import Random

import pytest

from strictwire.packs.unity.project.meta import (
    Meta,
    has_several_guids,
    is_builtin_guid,
    is_placeholder_guid,
    read_meta,
)
from strictwire.packs.unity.yaml.index import has_conflict

GUID = "22e38f402fa4f90edbacc8f7b80a8700"


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_meta_file_gives_guid_importer_and_bundle(end: str) -> None:
    text = f"fileFormatVersion: 2\nguid: {GUID.upper()}\nTextureImporter:\n  userData: \n  assetBundleName: ui\n"

    assert read_meta(text.replace("\n", end).encode()) == Meta(GUID, False, "TextureImporter", True)


def test_a_folder_is_known_by_its_meta_file() -> None:
    raw = f"fileFormatVersion: 2\nguid: {GUID}\nfolderAsset: yes\nDefaultImporter:\n  assetBundleName: \n".encode()

    assert read_meta(raw) == Meta(GUID, True, "DefaultImporter", False)


@pytest.mark.parametrize(
    "raw", [b"", b"guid: xyz\n", b"guid:\n", b"  guid: " + GUID.encode(), b"\x00\xff\xfe", b"guid: 12\n"]
)
def test_a_file_without_a_valid_guid_has_none(raw: bytes) -> None:
    assert read_meta(raw).guid == ""


def test_both_sides_of_a_merge_are_noticed() -> None:
    raw = f"fileFormatVersion: 2\n<<<<<<< HEAD\nguid: {GUID}\n=======\nguid: {GUID}\n>>>>>>> x\n".encode()

    assert (has_several_guids(raw), has_conflict(raw)) == (True, True)
    assert (has_several_guids(b"guid: a\n"), has_conflict(b"guid: a\n")) == (False, False)


@pytest.mark.parametrize(
    "guid",
    [
        "0123456789abcdef0123456789abcdef",
        "1234567890abcdef1234567890abcdef",
        "a1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d6",
        "a1b2c3d4e5f60718293a4b5c6d7e8f90",
        "11112222333344445555666677778888",
        "12345678123412341234123456789012",
        "deadbeefdeadbeefdeadbeefdeadbeef",
        "a1b2c3d4000000000000000000000000",
        "ffffffffffffffffffffffffffffffff",
        "fedcba9876543210fedcba9876543210",
        "00000000000000000000000000000001",
    ],
)
def test_made_up_guids_are_placeholders(guid: str) -> None:
    assert is_placeholder_guid(guid)


def test_generated_guids_are_no_placeholders() -> None:
    rng = Random(1)

    assert not any(is_placeholder_guid(f"{rng.getrandbits(128):032x}") for _ in range(50_000))


@pytest.mark.parametrize("digit", "0def")
def test_guids_of_the_editor_are_neither_missing_nor_made_up(digit: str) -> None:
    guid = f"0000000000000000{digit}000000000000000"

    assert is_builtin_guid(guid)
    assert not is_placeholder_guid(guid)

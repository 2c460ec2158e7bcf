"""Checkpoints as C2SP signed notes."""

from __future__ import annotations

import base64
import hashlib

import pytest

from strictwire.audit.checkpoint import (
    KeyRefused,
    NoteFault,
    NoteRefused,
    SigningKey,
    find_last_note,
    open_checkpoint,
    parse_public_key,
    parse_signing_key,
    split_notes,
)

KEY = SigningKey(name="example.org/log", seed=bytes(range(32)))
ROOT = hashlib.sha256(b"root").digest()
SIGNED = KEY.sign(size=42, root=ROOT)

FOREIGN_KEY = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
"""A key created by the reference implementation of signed notes."""


def test_a_note_is_text_empty_line_and_signature():
    text, signature = SIGNED.note.decode().split("\n\n")

    assert text == f"example.org/log\n42\n{base64.b64encode(ROOT).decode()}"
    assert signature.startswith("— example.org/log ")
    assert base64.b64decode(signature.split(" ")[2])[:4] == KEY.public.key_id


def test_a_signed_checkpoint_is_verified_with_the_public_key_alone():
    assert open_checkpoint(SIGNED.note, parse_public_key(KEY.public.render())) == SIGNED


def test_the_key_id_matches_the_reference_implementation():
    assert parse_public_key(FOREIGN_KEY).render() == FOREIGN_KEY


def test_a_signing_key_round_trips_and_its_repr_does_not_show_it():
    text = KEY.render()

    assert parse_signing_key(text).render() == text
    assert base64.b64encode(bytes(range(32))).decode() not in repr(KEY)


@pytest.mark.parametrize("place", range(0, len(SIGNED.note), 7))
def test_a_changed_byte_of_a_note_is_refused(place: int):
    forged = bytearray(SIGNED.note)
    forged[place] ^= 1
    with pytest.raises(NoteRefused):
        open_checkpoint(bytes(forged), KEY.public)


@pytest.mark.parametrize("cut", range(len(SIGNED.note)))
def test_a_truncated_note_is_malformed(cut: int):
    with pytest.raises(NoteRefused) as refused:
        open_checkpoint(SIGNED.note[:cut], KEY.public)

    assert refused.value.fault is NoteFault.MALFORMED


def test_a_note_of_another_key_is_refused():
    other = SigningKey(name="example.org/log", seed=bytes(32))
    with pytest.raises(NoteRefused) as refused:
        open_checkpoint(other.sign(size=42, root=ROOT).note, KEY.public)

    assert refused.value.fault is NoteFault.UNKNOWN_KEY


def test_an_invalid_signature_with_our_key_id_is_a_bad_signature():
    head, _, encoded = SIGNED.note.decode().rpartition(" ")
    raw = bytearray(base64.b64decode(encoded))
    raw[10] ^= 1
    forged = f"{head} {base64.b64encode(raw).decode()}\n".encode()
    with pytest.raises(NoteRefused) as refused:
        open_checkpoint(forged, KEY.public)

    assert refused.value.fault is NoteFault.BAD_SIGNATURE


def test_a_cosigned_note_is_verified_with_either_key():
    """Witnesses add signature lines; a reader ignores keys it does not know."""
    note = SIGNED.note + "— witness.example/w AAAAAAAA\n".encode()

    assert open_checkpoint(note, KEY.public).size == 42


@pytest.mark.parametrize(
    "text",
    [
        "\n42\n{root}\n",
        "example.org/log\n042\n{root}\n",
        "example.org/log\n-1\n{root}\n",
        "example.org/log\n٤٢\n{root}\n",
        "example.org/log\n42\nAAAA\n",
        "example.org/log\n42\n",
        "example.org/log\n" + "9" * 30 + "\n{root}\n",
    ],
)
def test_a_signed_text_that_is_not_a_checkpoint_is_malformed(text: str):
    plain = text.format(root=base64.b64encode(ROOT).decode()).encode()
    signature = base64.b64encode(KEY.public.key_id + KEY._key.sign(plain)).decode()
    with pytest.raises(NoteRefused) as refused:
        open_checkpoint(plain + f"\n— example.org/log {signature}\n".encode(), KEY.public)

    assert refused.value.fault is NoteFault.MALFORMED


@pytest.mark.parametrize(
    "text",
    ["", "a+b", "a+00000000+AAAA", KEY.public.render().replace("example", "exampla"), "PRIVATE+KEY+" + "x+y+z"],
)
def test_a_text_that_is_not_a_key_is_refused(text: str):
    with pytest.raises(KeyRefused):
        parse_public_key(text)
    with pytest.raises(KeyRefused):
        parse_signing_key(text)


@pytest.mark.parametrize("name", ["", "a b", "a+b", "a\tb"])
def test_a_name_that_would_break_the_format_is_refused(name: str):
    with pytest.raises(KeyRefused):
        SigningKey(name=name, seed=bytes(32))


def test_a_file_of_notes_is_split_where_the_signatures_end():
    notes = [KEY.sign(size=size, root=ROOT).note for size in (1, 2, 3)]
    lines = b"".join(notes).splitlines(keepends=True)

    assert list(split_notes(lines)) == notes


@pytest.mark.parametrize("cut", range(len(SIGNED.note)))
def test_the_last_complete_note_is_found_before_a_truncated_one(cut: int):
    first = KEY.sign(size=1, root=ROOT).note

    place = find_last_note(first + SIGNED.note[:cut])

    assert place == (0, len(first))


def test_the_last_note_is_found_in_the_tail_of_a_file():
    data = KEY.sign(size=1, root=ROOT).note + SIGNED.note

    assert find_last_note(data) == (len(data) - len(SIGNED.note), len(data))
    assert find_last_note(b"") is None


def test_an_oversized_note_is_refused_without_reading_it_whole():
    with pytest.raises(NoteRefused):
        list(split_notes(b"x" * 100 + b"\n" for _ in range(1000)))

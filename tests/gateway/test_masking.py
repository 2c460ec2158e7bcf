"""What no client should see is taken out of error texts; the rest of a text stays."""

from __future__ import annotations

import time

import pytest

from strictwire.gateway.client_view import MAX_TEXT, Masker, mask_addresses, mask_text

PYTHON = (
    'boom\nTraceback (most recent call last):\n  File "/srv/a.py", line 1, in f\n    g()\nValueError: bad\n'
    "\nKeyError: 1\ntail"
)
NODE = "Error: nope\n    at Object.run (/srv/app/index.js:3:4)\n    at async main (node:internal:9)\nafter"
GO = "panic: x\n\ngoroutine 1 [running]:\nmain.main()\n\t/tmp/x.go:3 +0x1d"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain words and/or more", "plain words and/or more"),
        ("see https://host.example/a/b/c", "see https://host.example/a/b/c"),
        ("no file /etc/app/config.yml", "no file [path]"),
        ("no file C:\\Users\\me\\x.txt here", "no file [path] here"),
        ("password=hunter2secret", "password=[redacted]"),
        ("Authorization: Bearer abcdef0123456789", "Authorization: Bearer [redacted]"),
        ('oops\n  File "/srv/a.py", line 3, in f\n    g()\nend', "oops\n[stack trace removed]\nend"),
        (NODE, "Error: nope[stack trace removed]\nafter"),
        (GO, "panic: x\n\n[stack trace removed]"),
    ],
)
def test_secrets_traces_and_paths_are_masked(text: str, expected: str) -> None:
    assert mask_text(text) == expected


def test_a_python_traceback_goes_with_its_message() -> None:
    masked = mask_text(PYTHON)

    assert masked.startswith("boom\n[stack trace removed]")
    assert "ValueError" not in masked
    assert "/srv" not in masked


def test_a_path_that_the_caller_gave_stays() -> None:
    given = '{"path":"/home/u/notes.txt"}'

    assert mask_text("ENOENT /home/u/notes.txt, not /home/u/other.txt", given) == "ENOENT /home/u/notes.txt, not [path]"


def test_texts_are_masked_wherever_they_stand_and_names_stay() -> None:
    value = {"/srv/app/x": ["/srv/app/x", 1, None, {"deep": "token=abc123"}]}

    assert Masker().mask(value) == {"/srv/app/x": ["[path]", 1, None, {"deep": "token=[redacted]"}]}


def test_what_is_past_the_budget_of_an_answer_is_cut() -> None:
    masked = Masker().mask(["a" * (MAX_TEXT - 1), "bcd", "e"])

    assert masked == ["a" * (MAX_TEXT - 1), "b[cut]", "[cut]"]


def test_only_text_items_of_content_are_searched() -> None:
    picture = {"type": "image", "data": "/srv/app/x", "mimeType": "image/png"}
    content = [{"type": "text", "text": "/srv/app/x", "annotations": {}}, picture, "odd"]

    assert Masker().mask_content(content) == [{"type": "text", "text": "[path]", "annotations": {}}, picture, "odd"]
    assert Masker().mask_content("odd") == "odd"


@pytest.mark.parametrize("piece", [" ", "\n", "\t\n", "a", "/a", "a.", "at ", 'File "', "\n at", "C:\\\\", "goroutine 1 ["])
def test_masking_takes_time_in_proportion_to_the_text(piece: str) -> None:
    """An upstream chooses the text: 100,000 characters that a careless pattern would take minutes for."""
    started = time.process_time()
    mask_text(piece * (100_000 // len(piece)))

    assert time.process_time() - started < 2


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (b'{"t":"<object object at 0x7f5a29da7ab0>"}', b'{"t":"<object object at [address]>"}'),
        (
            b'{"t":"<function f at 0x7F00AABB> and <X at 0x00aabb>"}',
            b'{"t":"<function f at [address]> and <X at [address]>"}',
        ),
        (b'{"t":"jump at 0x7f5a29da7ab0 fails"}', b'{"t":"jump at 0x7f5a29da7ab0 fails"}'),
        (b'{"t":"<div at 0x1>"}', b'{"t":"<div at 0x1>"}'),
    ],
)
def test_addresses_of_objects_are_masked_and_other_numbers_are_not(text: bytes, shown: bytes) -> None:
    assert mask_addresses(text) == shown

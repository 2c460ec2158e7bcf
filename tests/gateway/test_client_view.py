"""An upstream's answer as a client sees it: hidden tools, cache scope, status, masked texts."""

from __future__ import annotations

import time

import pytest

from strictwire.canon.json import parse_object
from strictwire.gateway.client_view import (
    MAX_TEXT,
    Masker,
    mask_addresses,
    mask_error,
    mask_result,
    mask_text,
    relayed_status,
    with_scope,
    without_entries,
)
from strictwire.gateway.links.raw_message import UpstreamAnswer
from strictwire.wire.revisions import LEGACY_NAMES, MODERN, REVISIONS


def answered(raw: bytes, status: int | None = None) -> UpstreamAnswer:
    message = parse_object(raw)
    return UpstreamAnswer(raw=raw, result=message.get("result"), error=message.get("error"), status=status)


LISTED = b'{"id":1,"result":{"tools":[{"name":"a","n":1.0},{"name":"b"}, {"name":"c","n":1e2}],"cacheScope":"public"}}'


def test_removing_entries_keeps_the_bytes_of_the_others() -> None:
    shown = without_entries(answered(LISTED), "tools", lambda entry: entry["name"] == "b")

    assert shown.raw == b'{"id":1,"result":{"tools":[{"name":"a","n":1.0},{"name":"c","n":1e2}],"cacheScope":"public"}}'
    assert shown.result == parse_object(shown.raw)["result"]


@pytest.mark.parametrize("raw", [LISTED, b'{"result":{"tools":5}}', b'{"result":{}}'])
def test_a_list_without_hidden_entries_is_unchanged(raw: bytes) -> None:
    answer = answered(raw)

    assert without_entries(answer, "tools", lambda _entry: False) is answer


def test_a_cache_scope_is_changed_but_never_added() -> None:
    plain = answered(b'{"id":1,"result":{"tools":[]}}')

    assert with_scope(plain, "private") is plain
    assert with_scope(answered(LISTED), "public").raw is LISTED
    assert parse_object(with_scope(answered(LISTED), "private").raw)["result"]["cacheScope"] == "private"


@pytest.mark.parametrize(
    ("code", "came", "modern", "expected"),
    [
        (-32601, None, True, 404),
        (-32602, None, True, 400),
        (-1, None, True, 200),
        (-1, 422, True, 422),
        (-1, 500, True, 200),
        (-32601, None, False, 200),
        (-32602, 400, False, 200),
    ],
)
def test_the_status_of_an_error_is_the_upstreams_or_follows_from_its_code(
    code: int, came: int | None, modern: bool, expected: int
) -> None:
    revision = REVISIONS[MODERN if modern else LEGACY_NAMES[-1]]

    assert relayed_status(UpstreamAnswer(raw=b"", error={"code": code, "message": ""}, status=came), revision) == expected


def test_an_answer_without_secrets_is_unchanged() -> None:
    error = answered(b'{"id":1,"error":{"code":1,"message":"no such file"}}')
    result = b'{"id":1,"result":{"isError":true,"content":[{"type":"text","text":"no"}]}}'

    assert mask_error(error, {}) is error
    assert mask_result(result, parse_object(result)["result"], {}) is result


# Masking.


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


def test_a_python_traceback_is_masked_with_its_message() -> None:
    masked = mask_text(PYTHON)

    assert masked.startswith("boom\n[stack trace removed]")
    assert "ValueError" not in masked
    assert "/srv" not in masked


def test_a_path_that_the_caller_sent_is_kept() -> None:
    given = '{"path":"/home/u/notes.txt"}'

    assert mask_text("ENOENT /home/u/notes.txt, not /home/u/other.txt", given) == "ENOENT /home/u/notes.txt, not [path]"


def test_texts_are_masked_at_every_depth_and_member_names_are_kept() -> None:
    value = {"/srv/app/x": ["/srv/app/x", 1, None, {"deep": "token=abc123"}]}

    assert Masker().mask(value) == {"/srv/app/x": ["[path]", 1, None, {"deep": "token=[redacted]"}]}


def test_text_beyond_the_limit_of_an_answer_is_cut() -> None:
    masked = Masker().mask(["a" * (MAX_TEXT - 1), "bcd", "e"])

    assert masked == ["a" * (MAX_TEXT - 1), "b[cut]", "[cut]"]


def test_only_text_items_of_content_are_searched() -> None:
    picture = {"type": "image", "data": "/srv/app/x", "mimeType": "image/png"}
    content = [{"type": "text", "text": "/srv/app/x", "annotations": {}}, picture, "odd"]

    assert Masker().mask_content(content) == [{"type": "text", "text": "[path]", "annotations": {}}, picture, "odd"]
    assert Masker().mask_content("odd") == "odd"


@pytest.mark.parametrize("piece", [" ", "\n", "\t\n", "a", "/a", "a.", "at ", 'File "', "\n at", "C:\\\\", "goroutine 1 ["])
def test_masking_takes_linear_time(piece: str) -> None:
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
def test_object_addresses_are_masked_and_other_numbers_are_not(text: bytes, shown: bytes) -> None:
    assert mask_addresses(text) == shown

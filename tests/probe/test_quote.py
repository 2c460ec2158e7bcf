"""Bytes in a report are ASCII, bounded and safe for a terminal."""

from __future__ import annotations

import pytest

from strictwire.probe.quote import SHOWN_BYTES, quote_bytes


@pytest.mark.parametrize(
    ("raw", "quoted"),
    [
        (b'{"a":1}', '{"a":1}'),
        (b"caf\xe9\x1b[31m\n", "caf\\xe9\\x1b[31m\\x0a"),
        ("\u202e".encode(), "\\xe2\\x80\\xae"),
        (b"", ""),
        (b"a" * (SHOWN_BYTES + 1), "a" * SHOWN_BYTES + "... (1,001 bytes)"),
    ],
)
def test_bytes_are_quoted(raw: bytes, quoted: str) -> None:
    assert quote_bytes(raw) == quoted


def test_a_terminal_gets_less() -> None:
    assert quote_bytes(b"abcdef", 3) == "abc... (6 bytes)"

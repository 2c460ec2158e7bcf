"""What counts as a leak: secret values, but not redaction marks."""

from __future__ import annotations

import pytest

from strictwire.probe.leaks import _ROWS

PATTERNS = {row.id: row.pattern for row in _ROWS}


@pytest.mark.parametrize(
    ("probe", "text", "leaks"),
    [
        ("LEAK_SECRET", "cannot connect: password=hunter2", True),
        ("LEAK_SECRET", "token: abc", True),
        ("LEAK_SECRET", "cannot connect: password=[redacted] at [path]", False),
        ("LEAK_SECRET", "API_KEY=***", False),
        ("LEAK_SECRET", "password=[redacted] token=abc", True),
        ("LEAK_ADDRESS", "<object object at 0x7f5a29da7ab0>", True),
        ("LEAK_ADDRESS", "<a.Thing object at ", True),
        ("LEAK_ADDRESS", "<object object at [address]>", False),
    ],
)
def test_a_redaction_mark_is_not_a_leak(probe: str, text: str, leaks: bool) -> None:
    assert (PATTERNS[probe].search(text) is not None) is leaks

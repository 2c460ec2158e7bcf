"""What counts as a leak: values of the server, but not redaction marks and examples."""

from __future__ import annotations

import pytest

from strictwire.probe.leaks import _ROWS, find_leak

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
        ("LEAK_PATH", "cannot open '/srv/app/a.txt'", True),
        ("LEAK_PATH", "must be absolute, e.g. 'C:\\Reports\\q1.xlsx' or '/home/me/q1.xlsx'.", False),
        ("LEAK_PATH", "give a path, for example /home/me/a\ncannot open '/srv/app/a.txt'", True),
    ],
)
def test_redaction_marks_and_examples_are_not_leaks(probe: str, text: str, leaks: bool) -> None:
    assert (find_leak(PATTERNS[probe], text) is not None) is leaks

"""Log messages: text or JSON on stderr, and the author's own configuration is left alone."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

SCRIPT = """
import logging, sys
{before}
from strictwire.server.logs import set_up_logging
from strictwire.settings.model import LogSettings
set_up_logging(LogSettings(level="info", format={format!r}))
logging.getLogger("strictwire.run").info("ours %s", 1)
logging.getLogger("shop").info("theirs")
try:
    1 // 0
except ZeroDivisionError as exc:
    logging.getLogger("strictwire.run").error("failed", exc_info=exc)
"""


def errors(before: str = "", *, format: str = "text") -> list[str]:  # noqa: A002
    script = SCRIPT.format(before=before, format=format)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == ""
    return done.stderr.splitlines()


def test_messages_and_tracebacks_are_text_on_stderr() -> None:
    lines = errors()

    assert [line.partition(" INFO ")[2] for line in lines[:2]] == ["strictwire.run: ours 1", "shop: theirs"]
    assert lines[-1].startswith("ZeroDivisionError")


def test_each_message_is_one_json_object() -> None:
    lines = [json.loads(line) for line in errors(format="json")]

    assert [(each["level"], each["logger"], each["message"]) for each in lines] == [
        ("info", "strictwire.run", "ours 1"),
        ("info", "shop", "theirs"),
        ("error", "strictwire.run", "failed"),
    ]
    assert "1 // 0" in lines[2]["traceback"] or "ZeroDivisionError" in lines[2]["traceback"]


@pytest.mark.parametrize("format", ["text", "json"])
def test_the_handlers_of_the_author_stay_and_get_our_messages(format: str) -> None:  # noqa: A002
    own = "logging.basicConfig(level='WARNING', format='AUTHOR %(name)s %(message)s', stream=sys.stderr)"

    assert [line for line in errors(own, format=format) if "AUTHOR" in line] == [
        "AUTHOR strictwire.run ours 1",
        "AUTHOR strictwire.run failed",
    ]

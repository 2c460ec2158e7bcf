"""Log messages: text or JSON on stderr, and the author's own configuration is left alone."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
import time

import pytest

from tests.fixtures.live import PATIENCE, StdioProcess, modern

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


def test_a_closed_standard_error_is_no_reason_to_fail() -> None:
    command = ["sh", "-c", 'exec "$0" -c "$1" 2>&-', sys.executable, SCRIPT.format(before="", format="text")]

    assert subprocess.run(command, timeout=60, check=False).returncode == 0


def test_a_client_that_does_not_read_stderr_is_answered_and_finds_out_what_is_missing() -> None:
    """A pipe holds 64 KiB, which is less than the tracebacks of these calls."""
    with UnreadErrors("hard:server") as server:
        for number in range(300):
            server.send(modern(number, "tools/call", {"name": "leak", "arguments": {}}))
            assert server.receive()["result"]["isError"] is True
        assert server.errors == []

        server.read_errors()
        server.send(modern("last", "tools/call", {"name": "leak", "arguments": {}}))
        server.receive()
        server.end_input()
        server.process.wait(PATIENCE)
    missing = re.findall(rb"\n(\d+) log messages are missing here: standard error was not read\n", b"".join(server.errors))
    written = b"".join(server.errors).count(b"tool leak raised RuntimeError")

    assert written + int(missing[0]) in (301, 302), "all messages, and perhaps one that is cut"


class UnreadErrors(StdioProcess):
    """A server whose standard error is not read at first."""

    def _read_errors(self) -> None:
        """Not yet."""

    def read_errors(self) -> None:
        """Read from now on. Returns when the pipe has room again."""
        reader = threading.Thread(target=super()._read_errors, daemon=True)
        reader.start()
        self._threads.append(reader)
        deadline = time.monotonic() + PATIENCE
        while sum(map(len, self.errors)) < 32_768 and time.monotonic() < deadline:
            time.sleep(0.001)

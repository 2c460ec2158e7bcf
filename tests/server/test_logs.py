"""Log messages: text or JSON on stderr, and the author's own configuration is left alone."""

from __future__ import annotations

import json
import os
import re
import select
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from tests.fixtures.live import HERE, PATIENCE, StdioProcess, command, environment, modern

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
    missing = re.findall(rb"\n(\d+) messages are missing here: standard error was not read\n", b"".join(server.errors))
    written = b"".join(server.errors).count(b"tool leak raised RuntimeError")

    assert written + int(missing[0]) in (301, 302), "all messages, and perhaps one that is cut"


@pytest.mark.parametrize("tool", ["leak", "talk"])
@pytest.mark.parametrize("kind", ["pipe", "terminal", "socket", "full disk", "reader that has gone"])
def test_no_call_waits_for_standard_error(kind: str, tool: str) -> None:
    """300 KB and more from the event loop: tracebacks, prints, and messages that cannot be formatted."""
    with ExitStack() as stack, opened(kind, stack) as errors:
        process = stack.enter_context(
            subprocess.Popen(
                command("hard:server", "--stdio"),
                cwd=HERE,
                env=environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
            )
        )
        stack.callback(process.kill)
        assert process.stdin is not None
        assert process.stdout is not None
        for number in range(400):
            process.stdin.write(modern(number, "tools/call", {"name": tool, "arguments": {}}) + b"\n")
            process.stdin.flush()
            assert select.select([process.stdout], [], [], PATIENCE)[0], f"no answer to call {number}"
            process.stdout.readline()


@contextmanager
def opened(kind: str, stack: ExitStack) -> Iterator[int]:
    """The end of a standard error that is not read."""
    if kind == "full disk":
        ours, theirs = None, os.open("/dev/full", os.O_WRONLY)
    elif kind == "socket":
        ours, theirs = (each.detach() for each in socket.socketpair())
    else:
        ours, theirs = os.openpty() if kind == "terminal" else os.pipe()
    stack.callback(os.close, theirs)
    if kind == "reader that has gone":
        os.close(ours)
    elif ours is not None:
        stack.callback(os.close, ours)
    yield theirs


def test_messages_of_megabytes_from_many_threads_are_written_whole() -> None:
    script = """
import logging, sys, threading
from strictwire.server.logs import set_up_logging
from strictwire.settings.model import LogSettings
set_up_logging(LogSettings(level="info", format="json"))
def write(letter):
    for _ in range(3):
        logging.getLogger("strictwire").info(letter * 2_000_000)
threads = [threading.Thread(target=write, args=(each,)) for each in "abcd"]
[each.start() for each in threads]
[each.join() for each in threads]
"""
    with tempfile.TemporaryFile() as file:  # a file takes everything at once
        subprocess.run([sys.executable, "-c", script], stderr=file, timeout=60, check=True)
        file.seek(0)
        written = sorted(json.loads(line)["message"] for line in file)

    assert written == sorted(each * 2_000_000 for each in "abcd" * 3)


def test_a_stream_of_the_author_gets_the_messages() -> None:
    script = SCRIPT.format(before="import io; sys.stderr = io.StringIO()", format="text")
    script += "\nsys.__stderr__.write(sys.stderr.getvalue())"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)

    assert "strictwire.run: ours 1" in done.stderr


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

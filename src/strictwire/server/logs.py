"""Log messages on standard error: stdout belongs to the protocol."""

from __future__ import annotations

import datetime as dt
import json
import logging
import os
import select
import sys
from typing import Any, Final

from strictwire.fault.escape import for_json_line, for_terminal, for_terminal_lines
from strictwire.settings.model import LogSettings

_TEXT: Final = "%(asctime)s %(levelname)s %(name)s: %(message)s"

_LOST: Final = "\n%d log messages are missing here: standard error was not read\n"
"""Begins a new line, because the last message may be cut."""


class TextFormatter(logging.Formatter):
    """One line for each message, and those of a traceback. Names from clients and upstreams cannot forge another."""

    def __init__(self) -> None:
        super().__init__(_TEXT)

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - overrides the standard library
        """The line without the traceback."""
        return for_terminal(super().formatMessage(record))

    def formatException(self, ei: Any) -> str:  # noqa: N802 - overrides the standard library
        """The lines of a traceback; the message of an exception may hold anything."""
        return for_terminal_lines(super().formatException(ei))


class JsonFormatter(logging.Formatter):
    """One JSON object per line: time, level, logger, message, and the traceback if there is one."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as one line."""
        time = dt.datetime.fromtimestamp(record.created, dt.UTC).isoformat(timespec="milliseconds")
        line = {"time": time, "level": record.levelname.lower(), "logger": record.name, "message": record.getMessage()}
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return for_json_line(json.dumps(line, ensure_ascii=False))


class UnblockedHandler(logging.Handler):
    """Writes to a descriptor and never waits for its reader: what does not fit is counted and left out.

    Many clients start a server and leave its standard error unread. A pipe holds 64 KiB; a write beyond that would block the
    event loop for ever, after about 90 tracebacks.
    """

    def __init__(self, descriptor: int) -> None:
        super().__init__()
        self._descriptor = descriptor
        self._poll = select.poll()
        self._poll.register(descriptor, select.POLLOUT)
        self._lost = 0
        """Messages that were left out, or cut, since the last that was written."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write a message, after the number of those that are missing before it."""
        try:
            line = self.format(record) + "\n"
            if self._lost and self._write(_LOST % self._lost):
                self._lost = 0
            if self._lost or not self._write(line):
                self._lost += 1
        except Exception:  # noqa: BLE001 - as in every handler of `logging`: a message that cannot be formatted fails no call
            self.handleError(record)

    def _write(self, text: str) -> bool:
        """Write in pieces that a pipe takes whole once it is writable (POSIX, PIPE_BUF). False if it is full."""
        data = text.encode("utf-8", "backslashreplace")
        for start in range(0, len(data), select.PIPE_BUF):
            if not self._poll.poll(0):
                return False
            os.write(self._descriptor, data[start : start + select.PIPE_BUF])
        return True


def set_up_logging(settings: LogSettings) -> None:
    """Log to stderr, unless the author has configured logging: then the author's handlers get the messages.

    Only the level of our own loggers is set in that case.
    """
    level = settings.level.upper()
    logging.getLogger("strictwire").setLevel(level)
    if logging.getLogger().handlers or sys.stderr is None:  # None: the process was started with a closed standard error
        return
    handler = UnblockedHandler(sys.stderr.fileno())
    handler.setFormatter(JsonFormatter() if settings.format == "json" else TextFormatter())
    logging.basicConfig(level=level, handlers=[handler])

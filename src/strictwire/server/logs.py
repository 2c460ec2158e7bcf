"""Log messages on standard error: stdout belongs to the protocol."""

from __future__ import annotations

import datetime as dt
import json
import logging
import sys
from typing import Any, Final

from strictwire.fault.escape import for_json_line, for_terminal, for_terminal_lines
from strictwire.server.standard_error import unblock_standard_error
from strictwire.settings.model import LogSettings

_TEXT: Final = "%(asctime)s %(levelname)s %(name)s: %(message)s"


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


def set_up_logging(settings: LogSettings) -> None:
    """Log to stderr, unless the author has configured logging: then the author's handlers get the messages.

    Only the level of our own loggers is set in that case.
    """
    level = settings.level.upper()
    logging.getLogger("strictwire").setLevel(level)
    unblock_standard_error()
    if logging.getLogger().handlers or sys.stderr is None:  # None: the process was started with a closed standard error
        return
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if settings.format == "json" else TextFormatter())
    logging.basicConfig(level=level, handlers=[handler])

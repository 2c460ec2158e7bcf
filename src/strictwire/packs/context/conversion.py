"""Converts HTML, notebooks and PDF in a process of its own, with limits of CPU time and memory for each file.

The parsers of these formats are not made for hostile files: a file of a few kilobytes can keep them busy for minutes, take
all memory, or make them raise anything. The process ends then, the file is skipped, and the next file gets a new process.

Run as a module, this file is that process. Request: kind, size and bytes of a file. Reply: outcome, size and text.
"""

from __future__ import annotations

import os
import resource
import struct
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from types import MappingProxyType, TracebackType
from typing import IO, Final, NamedTuple, Self, cast

from strictwire.packs.context.extract import extract
from strictwire.packs.context.formats import WrongFormat
from strictwire.packs.context.layout import MAX_DOCUMENT_BYTES

MAX_MEMORY: Final = 2 << 30
"""Address space of the process in bytes. A page of 54 MiB of text takes 0.8 GiB."""


class Allowance(NamedTuple):
    """CPU seconds for a file: some for any file, and more for each MiB."""

    base: float
    per_mebibyte: float

    def seconds(self, size: int) -> float:
        return self.base + self.per_mebibyte * size / (1 << 20)


MAX_SECONDS: Final = 900
"""Most CPU seconds for a file of any size."""

ALLOWANCES: Final[Mapping[str, Allowance]] = MappingProxyType(
    {"html": Allowance(10, 3), "notebook": Allowance(10, 3), "pdf": Allowance(30, 30)}
)
"""Kinds that are converted here. Usual are 0.1 s for a MiB of HTML and 2 s for a MiB of PDF."""

_SIZE: Final = struct.Struct("<Q")
_TEXT: Final = "text"
_TOO_LARGE: Final = "oversized"
_COSTLY: Final = "costly"
_OUT_OF_MEMORY: Final = 3
"""Exit code of the process after a MemoryError."""


class Converter:
    """Starts the process with the first file that needs it. Not safe to use from several threads."""

    def __init__(self, *, max_seconds: int = MAX_SECONDS, max_memory: int = MAX_MEMORY) -> None:
        # -P: with -m alone, Python would import modules of the working directory first.
        self._command = [sys.executable, "-P", "-m", __name__, str(max_seconds), str(max_memory)]
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _value: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if self._process is not None:
            self._end(self._process)

    def extract(self, kind: str, raw: bytes) -> str:
        """Return the text of a file, as `extract.extract` does. Raises WrongFormat; OSError: no process can be started."""
        if kind not in ALLOWANCES:
            return extract(kind, raw)
        process = self._process = self._process or self._start()
        stdin, stdout = cast("IO[bytes]", process.stdin), cast("IO[bytes]", process.stdout)
        try:
            _send(stdin, kind, raw)
            outcome, text = _receive(stdout)
        except (OSError, EOFError):
            self._process = None
            raise _failure(self._end(process)) from None
        if outcome != _TEXT:
            raise WrongFormat(text.decode(), reason=outcome)
        return text.decode()

    def _start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def _end(self, process: subprocess.Popen[bytes]) -> int:
        with suppress(OSError), process:  # closes its pipes and waits
            pass
        return process.returncode


def _failure(returncode: int) -> WrongFormat:
    if returncode < 0 or returncode == _OUT_OF_MEMORY:
        return WrongFormat("too costly to convert", reason=_COSTLY)
    return WrongFormat("not readable")


def _send(pipe: IO[bytes], label: str, body: bytes) -> None:
    name = label.encode()
    pipe.write(_SIZE.pack(len(name)) + name + _SIZE.pack(len(body)))
    pipe.write(body)
    pipe.flush()


def _receive(pipe: IO[bytes]) -> tuple[str, bytes]:
    """Return label and body. Raises EOFError."""
    label, body = (_read(pipe, _SIZE.unpack(_read(pipe, _SIZE.size))[0]) for _ in range(2))
    return label.decode(), body


def _read(pipe: IO[bytes], size: int) -> bytes:
    found = pipe.read(size)
    if len(found) < size:
        raise EOFError
    return found


def convert(kind: str, raw: bytes) -> tuple[str, bytes]:
    """Return the outcome, `text` or a key of skips.REASONS, and the text or what is wrong."""
    try:
        text = extract(kind, raw).encode()
    except WrongFormat as wrong:
        return wrong.reason, str(wrong).encode()
    if len(text) > MAX_DOCUMENT_BYTES:
        return _TOO_LARGE, f"larger than {MAX_DOCUMENT_BYTES} bytes as text".encode()
    return _TEXT, text


def main(max_seconds: int, max_memory: int) -> int:
    """Convert files until stdin ends. The system ends the process if a file exceeds its CPU time."""
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a parser prints must not become part of a reply
    resource.setrlimit(resource.RLIMIT_AS, (max_memory, max_memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        while True:
            kind, raw = _receive(sys.stdin.buffer)
            allowed = time.process_time() + min(max_seconds, ALLOWANCES[kind].seconds(len(raw)))
            resource.setrlimit(resource.RLIMIT_CPU, (int(allowed) + 1, resource.RLIM_INFINITY))
            _send(replies, *convert(kind, raw))
    except EOFError:
        return 0
    except MemoryError:
        return _OUT_OF_MEMORY


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2])))

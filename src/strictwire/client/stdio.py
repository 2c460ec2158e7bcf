"""A server process and its pipes: writes and reads lines of bytes and parses nothing.

The command is a list and never passes through a shell. Its stderr is read all the time, so that the server cannot block on
it; the last bytes are kept for the operator. On POSIX the process leads a process group of its own, so that the server ends
together with its wrapper (npx, uvx).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from strictwire.client.errors import CannotReach, ServerGone, TimedOut, TooLarge

MAX_LINE: Final = 8 * 1024 * 1024
"""Longest line from the server: twice the largest message that our server accepts."""

STDERR_KEPT: Final = 16 * 1024
"""Bytes of stderr that are kept: enough for one traceback."""

CLOSE_PATIENCE: Final = 2.0
"""Seconds to wait for the exit of the process after each step of `close`: end of input, SIGTERM, SIGKILL."""

_CHUNK: Final = 64 * 1024
_POSIX: Final = os.name == "posix"


class StdioProcess:
    """A running server process. Create it with `start`, and always `close` it."""

    def __init__(self, process: asyncio.subprocess.Process, max_line: int) -> None:
        if process.stdin is None or process.stdout is None or process.stderr is None:
            raise ValueError("the process needs pipes for stdin, stdout and stderr")
        self._process = process
        self._stdin, self._stdout, self._stderr = process.stdin, process.stdout, process.stderr
        self._max_line = max_line
        self._buffer = bytearray()
        self._searched = 0  # bytes of the buffer that contain no line break
        self._tail = bytearray()
        self._on_stderr: Callable[[bytes], None] | None = None
        self._drain = asyncio.create_task(self._drain_stderr())

    @classmethod
    async def start(
        cls,
        command: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        max_line: int = MAX_LINE,
    ) -> StdioProcess:
        """Start the command. Raises CannotReach."""
        if not command:
            raise CannotReach("an empty command", "name the program to start")
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=None if env is None else dict(env),
                cwd=cwd,
                start_new_session=_POSIX,
            )
        except OSError as exc:
            raise CannotReach(command[0], os.strerror(exc.errno) if exc.errno else "the program cannot be started") from exc
        except ValueError as exc:
            raise CannotReach(command[0], "an argument contains a NUL byte") from exc
        return cls(process, max_line)

    @property
    def pid(self) -> int:
        """The process id. On POSIX also the id of the process group."""
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """The exit code; None while the process runs."""
        return self._process.returncode

    @property
    def stderr_tail(self) -> bytes:
        """The last bytes that the process wrote to stderr."""
        return bytes(self._tail)

    @property
    def unsent(self) -> int:
        """Bytes that were written and wait for the process to read."""
        return self._stdin.transport.get_write_buffer_size()

    def watch_stderr(self, watcher: Callable[[bytes], None]) -> None:
        """Call a function with what the process writes to stderr, and first with what is kept of it."""
        self._on_stderr = watcher
        if self._tail:
            watcher(bytes(self._tail))

    async def write(self, raw: bytes) -> None:
        """Write bytes to stdin. Raises ServerGone: the pipe is closed."""
        try:
            self._stdin.write(raw)
        except (ConnectionError, RuntimeError) as exc:
            raise ServerGone(self.exit_code, self.stderr_tail) from exc
        await self.drain()

    async def drain(self) -> None:
        """Wait until the process has read most of what was written. Raises ServerGone."""
        try:
            await self._stdin.drain()
        except (ConnectionError, RuntimeError) as exc:
            raise ServerGone(self.exit_code, self.stderr_tail) from exc

    async def write_line(self, raw: bytes) -> None:
        """Write one message and a line break. Raises ServerGone."""
        await self.write(raw + b"\n")

    def close_stdin(self) -> None:
        """Close stdin, which tells the server to exit."""
        with contextlib.suppress(ConnectionError, RuntimeError):
            self._stdin.close()

    async def read_line(self) -> bytes | None:
        """Read the next line, without the line break; None at the end of stdout. Raises TooLarge; the line is skipped then.

        Safe to cancel: bytes that were already read stay in the buffer.
        """
        while (line := self._maybe_line()) is None:
            if len(self._buffer) > self._max_line:
                await self._drop_line()
                raise TooLarge("a line", self._max_line)
            chunk = await self._stdout.read(_CHUNK)
            if not chunk:
                rest, self._buffer = bytes(self._buffer), bytearray()
                return rest or None
            self._buffer += chunk
        if len(line) > self._max_line:
            raise TooLarge("a line", self._max_line)
        return line

    async def wait(self, seconds: float) -> int:
        """Wait for the exit of the process. Raises TimedOut."""
        try:
            async with asyncio.timeout(seconds):
                return await self._process.wait()
        except TimeoutError as exc:
            raise TimedOut("exit of the server process", seconds) from exc

    async def close(self, patience: float = CLOSE_PATIENCE) -> int:
        """Stop the process: end of input, then SIGTERM, then SIGKILL, `patience` seconds apart. Returns the exit code."""
        self.close_stdin()
        for step in (None, signal.SIGTERM, signal.SIGKILL if _POSIX else signal.SIGTERM):
            if step is not None:
                self._signal(step)
            with contextlib.suppress(TimedOut):
                await self._drain_until_exit(patience)
                break
        self._signal_leftovers()
        await self._read_pipes_to_end(patience)
        return self.exit_code if self.exit_code is not None else -1

    async def _read_pipes_to_end(self, patience: float) -> None:
        """Read both pipes to the end: only then does the event loop close its transports."""
        reading = asyncio.create_task(self._discard_stdout())
        await asyncio.wait({reading, self._drain}, timeout=patience)
        reading.cancel()
        self._drain.cancel()
        await asyncio.gather(reading, self._drain, return_exceptions=True)

    async def _drain_until_exit(self, patience: float) -> None:
        """Wait for the exit and discard stdout meanwhile: a server that flushes a full pipe would otherwise never exit."""
        reading = asyncio.create_task(self._discard_stdout())
        try:
            await self.wait(patience)
        finally:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)

    async def _discard_stdout(self) -> None:
        while await self._stdout.read(_CHUNK):
            pass

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if _POSIX:
                os.killpg(self.pid, number)
            else:
                self._process.send_signal(number)

    def _signal_leftovers(self) -> None:
        """Kill children of the process that are still running."""
        if _POSIX:
            self._signal(signal.SIGKILL)

    def _maybe_line(self) -> bytes | None:
        end = self._buffer.find(b"\n", self._searched)
        if end < 0:
            self._searched = len(self._buffer)
            return None
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        self._searched = 0
        return line.removesuffix(b"\r")

    async def _drop_line(self) -> None:
        """Discard the rest of a line that is too long."""
        while True:
            end = self._buffer.find(b"\n")
            if end >= 0:
                del self._buffer[: end + 1]
                break
            self._buffer.clear()
            chunk = await self._stdout.read(_CHUNK)
            if not chunk:
                break
            self._buffer += chunk
        self._searched = 0

    async def _drain_stderr(self) -> None:
        while chunk := await self._stderr.read(_CHUNK):
            if self._on_stderr is not None:
                self._on_stderr(chunk)
            self._tail += chunk
            del self._tail[:-STDERR_KEPT]

"""A server process and its pipes: lines of bytes in, lines of bytes out, nothing parsed.

The command is a list and never goes through a shell. Its stderr is drained so that it cannot block, and its end is
kept for people. On POSIX the process leads its own group, so that wrappers (npx, uvx) end with what they started.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Mapping, Sequence
from typing import Final

from strictwire.client.errors import CannotReach, ServerGone, TimedOut, TooLarge

MAX_LINE: Final = 8 * 1024 * 1024
"""One line of the server: twice the largest message we accept."""

STDERR_KEPT: Final = 16 * 1024
"""The tail of stderr that is kept: enough for one traceback."""

CLOSE_PATIENCE: Final = 2.0
"""Seconds for each step of the farewell: after EOF, after SIGTERM."""

_CHUNK: Final = 64 * 1024
_POSIX: Final = os.name == "posix"


class StdioProcess:
    """One running server. Make it with `start`; `close` it in any case."""

    def __init__(self, process: asyncio.subprocess.Process, max_line: int) -> None:
        if process.stdin is None or process.stdout is None or process.stderr is None:
            raise ValueError("the process must be started with three pipes")
        self._process = process
        self._stdin, self._stdout, self._stderr = process.stdin, process.stdout, process.stderr
        self._max_line = max_line
        self._buffer = bytearray()
        self._searched = 0
        self._tail = bytearray()
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
            raise CannotReach("the empty command", "name a program to start")
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
            raise CannotReach(command[0], os.strerror(exc.errno) if exc.errno else "it cannot be started") from exc
        except ValueError as exc:
            raise CannotReach(command[0], "an argument holds a NUL byte") from exc
        return cls(process, max_line)

    @property
    def pid(self) -> int:
        """Also the id of its process group on POSIX."""
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """None while it runs."""
        return self._process.returncode

    @property
    def stderr_tail(self) -> bytes:
        """The last bytes written to stderr."""
        return bytes(self._tail)

    async def write(self, raw: bytes) -> None:
        """Write bytes as they are. Raises ServerGone when the pipe is closed."""
        try:
            self._stdin.write(raw)
            await self._stdin.drain()
        except (ConnectionError, RuntimeError) as exc:
            raise ServerGone(self.exit_code, self.stderr_tail) from exc

    async def write_line(self, raw: bytes) -> None:
        """Write one message. Raises ServerGone."""
        await self.write(raw + b"\n")

    def close_stdin(self) -> None:
        """Tell the server that nothing more will come."""
        with contextlib.suppress(ConnectionError, RuntimeError):
            self._stdin.close()

    async def read_line(self) -> bytes | None:
        """The next line without its end, or None at end of file. Raises TooLarge; the excess is dropped unread.

        Safe to cancel: what was read already stays buffered.
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
        """Wait for the end of the process. Raises TimedOut."""
        try:
            async with asyncio.timeout(seconds):
                return await self._process.wait()
        except TimeoutError as exc:
            raise TimedOut("the end of the process", seconds) from exc

    async def close(self, patience: float = CLOSE_PATIENCE) -> int:
        """End it: EOF, then SIGTERM, then SIGKILL, each after `patience` seconds. Gives the exit code."""
        self.close_stdin()
        for step in (None, signal.SIGTERM, signal.SIGKILL if _POSIX else signal.SIGTERM):
            if step is not None:
                self._signal(step)
            with contextlib.suppress(TimedOut):
                await self._drain_until_exit(patience)
                break
        self._signal_leftovers()
        await self._see_pipes_closed(patience)
        return self.exit_code if self.exit_code is not None else -1

    async def _see_pipes_closed(self, patience: float) -> None:
        """Read both pipes to their end, so that the loop lets go of them."""
        reading = asyncio.create_task(self._discard_stdout())
        await asyncio.wait({reading, self._drain}, timeout=patience)
        reading.cancel()
        self._drain.cancel()
        await asyncio.gather(reading, self._drain, return_exceptions=True)

    async def _drain_until_exit(self, patience: float) -> None:
        """Read on while it ends: a server that must flush would otherwise wait for us forever."""
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
        """Children that outlived the leader of the group."""
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
        """Forget the line that is too long, up to its end."""
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
            self._tail += chunk
            del self._tail[:-STDERR_KEPT]

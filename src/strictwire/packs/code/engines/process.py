"""One engine process: started on a leash, its output handed on as it arrives, ended for certain."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

LEASH: Final = Path(__file__).with_name("leash.py")
"""The script that holds the engine."""

PASSED_ON: Final = (
    *("PATH", "HOME", "USER", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR"),
    *("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "VIRTUAL_ENV", "CONDA_PREFIX", "NODE_PATH"),
)
"""Variables that an engine gets. Everything else, tokens and keys above all, stays with the server."""

MAX_UNWRITTEN: Final = 64 * 1024 * 1024
"""Bytes that an engine may leave unread before it counts as hung."""

MAX_LINE: Final = 4096
"""Bytes of a line of stderr that are looked at."""

_END_SECONDS: Final = 2.0
"""For the leash to kill what is left. It needs milliseconds; after that it is killed itself."""


_GRACE_SECONDS: Final = 0.5
"""Between the end of an engine's output and its being killed: enough for it to end with an exit code of its own."""


class Owner(Protocol):
    """Hears what the process does."""

    def on_output(self, data: bytes) -> None:
        """Bytes on stdout."""

    def on_output_end(self) -> None:
        """Nothing more comes on stdout: the process is at its end."""

    def on_line(self, line: str) -> None:
        """A line on stderr, cut at its limit."""

    def on_exit(self, code: int) -> None:
        """The process ended, and everything it wrote was handed on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """How to start an engine."""

    command: tuple[str, ...]
    folder: Path
    variables: Mapping[str, str] = field(default_factory=dict)
    """The environment variables it gets, and no others."""
    memory_bytes: int = 0
    """The limit for the engine and all of its children; 0 for none."""


def passed_on(variables: Mapping[str, str]) -> dict[str, str]:
    """Of the server's environment variables those that an engine gets."""
    return {name: variables[name] for name in PASSED_ON if name in variables}


class Process(asyncio.SubprocessProtocol):
    """A running engine. Make one with `start`."""

    def __init__(self, owner: Owner, lifeline: int) -> None:
        self._owner = owner
        self._lifeline = lifeline
        self._transport: asyncio.SubprocessTransport | None = None
        self._exited = asyncio.Event()
        self._line = b""

    @property
    def pid(self) -> int:
        """The process of the leash, whose only child is the engine."""
        return self._transport.get_pid() if self._transport is not None else 0

    def write(self, data: bytes) -> None:
        """Send bytes to the engine's stdin. Raises BrokenPipeError: it does not read, or is gone."""
        pipe = self._transport.get_pipe_transport(0) if self._transport is not None else None
        if not isinstance(pipe, asyncio.WriteTransport) or pipe.is_closing():
            raise BrokenPipeError
        if pipe.get_write_buffer_size() > MAX_UNWRITTEN:
            raise BrokenPipeError
        pipe.write(data)

    @property
    def has_closed_output(self) -> bool:
        """Whether its stdout has ended, also if that is not reported yet."""
        pipe = self._transport.get_pipe_transport(1) if self._transport is not None else None
        return pipe is not None and pipe.is_closing()

    def kill(self) -> None:
        """Have the engine and everything it started killed, without waiting for it. Safe to call again."""
        if self._lifeline >= 0:
            os.close(self._lifeline)
            self._lifeline = -1

    async def end(self) -> None:
        """Kill the engine and everything it started; returns when nothing is left. Safe to call again."""
        if self._transport is None:
            return
        self.kill()
        try:
            async with asyncio.timeout(_END_SECONDS):
                await self._exited.wait()
        except TimeoutError:
            with suppress(ProcessLookupError):
                self._transport.kill()
            await self._exited.wait()
        self._transport.close()

    async def wait(self) -> None:
        """Wait until the process ended."""
        await self._exited.wait()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Part of asyncio's interface."""
        if isinstance(transport, asyncio.SubprocessTransport):
            self._transport = transport

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Part of asyncio's interface."""
        if fd == 1:
            self._owner.on_output(data)
            return
        *lines, rest = (self._line + data).split(b"\n")
        self._line = rest[-MAX_LINE:]
        for line in lines:
            self._owner.on_line(line[:MAX_LINE].decode("utf-8", "replace"))

    def pipe_connection_lost(self, fd: int, _exc: Exception | None) -> None:
        """Part of asyncio's interface. An engine that closes its stdout is at its end, and is helped if it goes on."""
        if fd == 1:
            self._owner.on_output_end()
            asyncio.get_running_loop().call_later(_GRACE_SECONDS, self.kill)

    def process_exited(self) -> None:
        """Part of asyncio's interface."""
        self.kill()
        self._exited.set()

    def connection_lost(self, _exc: Exception | None) -> None:
        """Part of asyncio's interface. Called after the last output, which may follow the end of the process."""
        code = self._transport.get_returncode() if self._transport is not None else None
        self._owner.on_exit(code if code is not None else -1)


async def start(launch: Launch, owner: Owner) -> Process:
    """Start an engine. Raises OSError: no process or pipe to be had."""
    read_end, write_end = os.pipe()
    process = Process(owner, write_end)
    spawning = asyncio.ensure_future(
        asyncio.get_running_loop().subprocess_exec(
            lambda: process,
            sys.executable,
            *("-I", "-S", str(LEASH), str(read_end), str(launch.memory_bytes)),
            *launch.command,
            cwd=launch.folder,
            env=dict(launch.variables),
            pass_fds=(read_end,),
            start_new_session=True,  # a Ctrl-C in the terminal is for the server, which then ends its engines
        )
    )
    try:
        # Cancelled halfway, asyncio would kill the leash, and with it the only one who knows what to kill.
        await asyncio.shield(spawning)
    except asyncio.CancelledError:
        await asyncio.wait([spawning])
        await process.end()
        raise
    except OSError:
        process.kill()
        raise
    finally:
        os.close(read_end)
    return process

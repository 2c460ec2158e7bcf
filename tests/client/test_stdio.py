"""Server processes and their pipes."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import pytest

from strictwire.client.errors import CannotReach, ServerGone, TimedOut, TooLarge
from strictwire.client.stdio import STDERR_KEPT, StdioProcess

T = TypeVar("T")


def with_process(code: str, act: Callable[[StdioProcess], Awaitable[T]], max_line: int = 1000) -> tuple[T, int]:
    """Run Python code as the server. Returns the result of `act` and the exit code."""

    async def main() -> tuple[T, int]:
        process = await StdioProcess.start([sys.executable, "-c", code], max_line=max_line)
        try:
            async with asyncio.timeout(10):
                outcome = await act(process)
        finally:
            exit_code = await process.close(patience=5)
        return outcome, exit_code

    return asyncio.run(main())


CAT = "import sys\nfor line in sys.stdin.buffer: sys.stdout.buffer.write(line); sys.stdout.flush()"


def test_lines_are_written_and_read_as_bytes() -> None:
    async def act(process: StdioProcess) -> list[bytes | None]:
        await process.write_line(b"\xff one")
        await process.write(b"two\r\nthree")
        lines = [await process.read_line(), await process.read_line()]
        process.close_stdin()
        return [*lines, await process.read_line(), await process.read_line()]

    assert with_process(CAT, act) == ([b"\xff one", b"two", b"three", None], 0)


def test_a_line_that_is_too_long_is_skipped_and_the_next_is_read() -> None:
    async def act(process: StdioProcess) -> bytes | None:
        await process.write_line(b"x" * 200_000)
        await process.write_line(b"next")
        with pytest.raises(TooLarge):
            await process.read_line()
        return await process.read_line()

    assert with_process(CAT, act) == (b"next", 0)


def test_cancelling_a_read_loses_no_bytes() -> None:
    async def act(process: StdioProcess) -> bytes | None:
        await process.write(b"half ")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.3):
                await process.read_line()
        await process.write_line(b"whole")
        return await process.read_line()

    assert with_process(CAT, act) == (b"half whole", 0)


def test_the_last_bytes_of_stderr_are_kept_and_stderr_never_blocks() -> None:
    async def main() -> tuple[bytes | None, bytes]:
        code = "import sys; sys.stderr.write('a' * 500_000 + 'end'); sys.stderr.flush(); print('done')"
        process = await StdioProcess.start([sys.executable, "-c", code])
        line = await process.read_line()
        await process.close()
        return line, process.stderr_tail

    line, tail = asyncio.run(main())

    assert (line, len(tail), tail[-4:]) == (b"done", STDERR_KEPT, b"aend")


@pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")
def test_a_server_that_ignores_sigterm_is_killed_with_its_children() -> None:
    code = (
        "import signal, subprocess, sys, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        "print(child.pid, flush=True)\n"
        "time.sleep(60)"
    )

    async def main() -> tuple[int, bool]:
        process = await StdioProcess.start([sys.executable, "-c", code])
        child = int(await process.read_line() or b"0")
        exit_code = await process.close(patience=0.2)
        return exit_code, await _is_gone(child)

    assert asyncio.run(main()) == (-9, True)


async def _is_gone(pid: int) -> bool:
    for _ in range(100):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        if b"Z" in _state(pid):
            return True
        await asyncio.sleep(0.02)
    return False


def _state(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0]
    except OSError:
        return b""


async def write_on(process: StdioProcess) -> None:
    for _ in range(50):
        await process.write(b"x" * 100_000)


def test_writing_to_a_server_that_exited_is_an_error_with_its_exit_code_and_stderr() -> None:
    async def act(process: StdioProcess) -> tuple[int | None, bytes]:
        await process.wait(10)
        with pytest.raises(ServerGone) as caught:
            await write_on(process)
        return caught.value.exit_code, caught.value.stderr

    code = "import sys; sys.stderr.write('why'); sys.exit(7)"

    (exit_code, stderr), _ = with_process(code, act)

    assert (exit_code, stderr) == (7, b"why")


def test_waiting_for_the_exit_can_time_out() -> None:
    async def act(process: StdioProcess) -> None:
        with pytest.raises(TimedOut):
            await process.wait(0.05)

    with_process(CAT, act)


@pytest.mark.parametrize("command", [[], ["/no/such/program"], ["a\0b"]])
def test_a_command_that_cannot_start_is_refused(command: list[str]) -> None:
    with pytest.raises(CannotReach):
        asyncio.run(StdioProcess.start(command))

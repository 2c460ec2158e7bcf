"""Nothing of an engine outlives the server, and no engine takes more memory than it may."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from strictwire.packs.code.engines.leash import NOT_FOUND, TOO_MUCH_MEMORY
from strictwire.packs.code.engines.process import Launch, Process, passed_on, start

PATIENCE = 60.0

TREE = """
import os, subprocess, sys, time
sleeper = [sys.executable, "-c", "import time; time.sleep(3600)"]
inner = f"import subprocess, sys, time; subprocess.Popen({sleeper!r}, start_new_session=True); time.sleep(3600)"
subprocess.Popen([sys.executable, "-c", inner])
subprocess.Popen(sleeper, start_new_session=True)
print("up", flush=True)
time.sleep(3600)
"""
"""A program with a child, a grandchild and a child that left its session: four processes."""


class Heard:
    """See process.Owner."""

    def __init__(self) -> None:
        self.output = b""
        self.lines: list[str] = []
        self.code: int | None = None
        self.changed = asyncio.Event()

    def on_output(self, data: bytes) -> None:
        self.output += data
        self.changed.set()

    def on_output_end(self) -> None:
        self.changed.set()

    def on_line(self, line: str) -> None:
        self.lines.append(line)

    def on_exit(self, code: int) -> None:
        self.code = code
        self.changed.set()

    async def until_output(self, text: bytes) -> None:
        async with asyncio.timeout(PATIENCE):
            while text not in self.output:
                self.changed.clear()
                await self.changed.wait()

    async def until_exit(self) -> int:
        async with asyncio.timeout(PATIENCE):
            while self.code is None:
                self.changed.clear()
                await self.changed.wait()
        return self.code


async def launch(script: str, *arguments: str, memory: int = 0) -> tuple[Process, Heard]:
    heard = Heard()
    command = (sys.executable, "-c", script, *arguments)
    variables = {"PATH": os.environ["PATH"], "HOME": "/"}
    return await start(Launch(command=command, folder=Path("/"), variables=variables, memory_bytes=memory), heard), heard


def family(pid: int) -> list[int]:
    """A process and everything below it."""
    found = [pid]
    for each in found:
        for thread in Path(f"/proc/{each}/task").glob("*/children"):
            found += map(int, thread.read_text().split())
    return found


def alive(pids: list[int]) -> list[int]:
    """Those that still run; one that ended and was not collected by its parent does not."""
    return [pid for pid in pids if is_running(pid)]


def is_running(pid: int) -> bool:
    """Whether one of its threads runs: the first may have ended while others still keep the files open."""
    for thread in Path(f"/proc/{pid}/task").glob("*/stat"):
        with suppress(OSError):
            if thread.read_text().rpartition(")")[2].split()[0] not in "ZX":
                return True
    return False


def until_gone(pids: list[int], seconds: float) -> list[int]:
    end = time.monotonic() + seconds
    while (left := alive(pids)) and time.monotonic() < end:
        time.sleep(0.01)
    return left


async def the_whole_family(pid: int, count: int) -> list[int]:
    async with asyncio.timeout(PATIENCE):
        while len(found := family(pid)) < count:
            await asyncio.sleep(0.01)
    return found


def test_output_lines_and_exit_code_are_those_of_the_engine() -> None:
    async def scenario() -> tuple[bytes, list[str], int]:
        script = "import sys; print('out', sys.argv[1:]); print('err', file=sys.stderr); sys.exit(7)"
        process, heard = await launch(script, "a b", "c")
        code = await heard.until_exit()
        await process.end()
        return heard.output, heard.lines, code

    assert asyncio.run(scenario()) == (b"out ['a b', 'c']\n", ["err"], 7)


def test_an_engine_reads_what_is_written_and_sees_the_end() -> None:
    async def scenario() -> bytes:
        process, heard = await launch("import sys; [print(line.strip(), flush=True) for line in sys.stdin]")
        process.write(b"one\n")
        await heard.until_output(b"one\n")
        await process.end()
        return heard.output

    assert asyncio.run(scenario()) == b"one\n"


def test_only_harmless_variables_are_handed_on() -> None:
    assert passed_on({"PATH": "/bin", "AWS_SECRET_ACCESS_KEY": "x", "STRICTWIRE_TOKEN": "y", "HOME": "/root"}) == {
        "PATH": "/bin",
        "HOME": "/root",
    }


def test_a_signal_that_ends_the_engine_is_told_from_an_exit() -> None:
    async def scenario() -> int:
        process, heard = await launch("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")
        code = await heard.until_exit()
        await process.end()
        return code

    assert asyncio.run(scenario()) == 128 + signal.SIGSEGV


def test_a_command_that_is_not_there_has_its_own_code() -> None:
    async def scenario() -> int:
        heard = Heard()
        process = await start(Launch(command=("/no/such/program",), folder=Path("/")), heard)
        code = await heard.until_exit()
        await process.end()
        return code

    assert asyncio.run(scenario()) == NOT_FOUND


def test_ending_an_engine_ends_everything_it_started() -> None:
    async def scenario() -> list[int]:
        process, heard = await launch(TREE)
        await heard.until_output(b"up")
        pids = await the_whole_family(process.pid, 5)
        await process.end()
        return until_gone(pids, PATIENCE)

    assert asyncio.run(scenario()) == []


@pytest.mark.parametrize("turns", range(6))
def test_a_start_that_is_cancelled_leaves_nothing_behind(turns: int) -> None:
    async def scenario() -> list[int]:
        starting = asyncio.create_task(launch(TREE))
        for _ in range(turns):
            await asyncio.sleep(0)
        starting.cancel()
        with suppress(asyncio.CancelledError):
            await (await starting)[0].end()
        return family(os.getpid())[1:]

    assert asyncio.run(scenario()) == []


def test_an_engine_that_dies_takes_what_it_started_with_it() -> None:
    async def scenario() -> tuple[list[int], int]:
        process, heard = await launch(TREE)
        await heard.until_output(b"up")
        pids = await the_whole_family(process.pid, 5)
        os.kill(pids[1], signal.SIGKILL)
        code = await heard.until_exit()
        await process.end()
        return until_gone(pids, PATIENCE), code

    assert asyncio.run(scenario()) == ([], 128 + signal.SIGKILL)


def test_an_engine_whose_leash_is_killed_dies_too() -> None:
    async def scenario() -> list[int]:
        process, heard = await launch("print('up', flush=True); import time; time.sleep(3600)")
        await heard.until_output(b"up")
        pids = await the_whole_family(process.pid, 2)
        os.kill(process.pid, signal.SIGKILL)
        await heard.until_exit()
        await process.end()
        return until_gone(pids, PATIENCE)

    assert asyncio.run(scenario()) == []


def test_an_engine_that_closes_its_output_is_ended() -> None:
    async def scenario() -> int:
        process, heard = await launch("import os, time; os.close(1); time.sleep(3600)")
        code = await heard.until_exit()
        await process.end()
        return code

    assert asyncio.run(scenario()) == 128 + signal.SIGKILL


def test_too_much_memory_ends_an_engine_and_what_it_started() -> None:
    greedy = "import subprocess, sys, time; x = bytearray(b'x') * 200_000_000; print('up', flush=True); time.sleep(3600)"
    nested = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {greedy!r}])"

    async def scenario() -> int:
        process, heard = await launch(nested, memory=100_000_000)
        code = await heard.until_exit()
        await process.end()
        return code

    assert asyncio.run(scenario()) == TOO_MUCH_MEMORY


SERVER = f"""
import asyncio, signal, sys
from pathlib import Path
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell starts background jobs with SIGINT ignored
from strictwire.packs.code.engines.process import Launch, start
class Owner:
    def on_output(self, data): print("up", flush=True)
    def on_output_end(self): pass
    def on_line(self, line): pass
    def on_exit(self, code): pass
async def main():
    process = await start(Launch(command=(sys.executable, "-c", {TREE!r}), folder=Path("/")), Owner())
    print("leash", process.pid, flush=True)
    await asyncio.sleep(3600)
asyncio.run(main())
"""


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_no_child_survives_the_server(ending: signal.Signals) -> None:
    """Also after kill -9. It takes less than 0.1 s on an idle machine; the limit is for one at load 40."""
    server = subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert server.stdout is not None
    said = {server.stdout.readline().split()[0], server.stdout.readline().split()[0]}
    pids = asyncio.run(the_whole_family(server.pid, 6))
    server.send_signal(ending)
    server.wait(PATIENCE)
    left = until_gone(pids, PATIENCE)
    server.stdout.close()

    assert (said, left) == ({"leash", "up"}, [])

"""What every attack needs: the processes under attack, an innocent client of each, and the limits they must keep.

An attack is a module of this folder with a table of kinds (each generates one case from a seeded `Random`) and one check,
which runs a case against real processes and raises AssertionError. `suite.py` lists the attacks and runs them.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Any

from tests.abuse.web_upstream import WebUpstream
from tests.fixtures.guards import PYTHON, GuardHttpProcess
from tests.fixtures.live import PATIENCE, HttpProcess, modern, modern_headers
from tests.packs.workspace.http_server import HttpServer, serve_http

HERE = Path(__file__).parent
MEGABYTE = 1 << 20

MAX_RESIDENT = 300 * MEGABYTE
"""Peak resident memory of a process under attack."""
MAX_SECONDS = 1.0
"""Time in which an innocent client is answered. The test suite allows PATIENCE instead: its machine may be busy."""
KILL_RESIDENT = 1024 * MEGABYTE
"""A process that grows to this size is killed, so that the machine survives the finding."""

INNOCENT, ATTACKER = "ada", "mallory"
TRACEBACK = b"Traceback (most recent call last)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """One class of attacks."""

    name: str
    kinds: Mapping[str, Callable[[Random], Any]]
    """Name to generator of a case."""
    check: Callable[[Any, Arena], None]
    """Runs a case. Raises AssertionError if a promise is broken."""
    exceeding: frozenset[str] = frozenset()
    """Kinds that exceed a limit in this version. Only the long run includes them, and it fails because of them."""
    lengthy: frozenset[str] = frozenset()
    """Kinds that keep every limit and take seconds. Only the long run includes them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What one process used during a case."""

    resident: int
    seconds: float
    """Longest time in which the innocent client was answered."""
    answers: int
    refusals: int
    """Requests of the innocent client that were not served."""


def tokens() -> str:
    """Settings with one bearer token for each principal; the token is the name."""
    return "".join(
        f'[[server.tokens]]\nsha256 = "{hashlib.sha256(name.encode()).hexdigest()}"\nprincipal = "{name}"\n'
        for name in (INNOCENT, ATTACKER)
    )


def bearer(body: bytes, token: str = ATTACKER) -> dict[str, str]:
    """The headers of a modern request with a token."""
    return {**modern_headers(body), "Authorization": f"Bearer {token}"}


def call(tool: str, /, request_id: object = 1, **arguments: Any) -> bytes:
    """A tool call of 2026-07-28."""
    return modern(request_id, "tools/call", {"name": tool, "arguments": arguments})


def peak_resident(pid: int) -> int:
    """Peak resident bytes since the last reset; 0 if the process has ended."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM"):
                return int(line.split()[1]) * 1024
    return 0


class Arena:
    """The processes under attack. Each is started when it is first used and then kept, so that leaks add up."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.watched: dict[str, int] = {}
        """Name to process id."""
        self.killed: set[int] = set()
        self.kept: dict[str, object] = {}
        """What an attack keeps from one case to the next, by the name of its choice."""
        self._stack = ExitStack()
        self._innocents: dict[str, Innocent] = {}
        self._past: dict[str, Usage] = {}
        self._ended = threading.Event()
        self._watcher = threading.Thread(target=self._kill_what_grows, daemon=True)
        self._watcher.start()

    def close(self) -> None:
        """End every process."""
        self._ended.set()
        self._watcher.join(PATIENCE)
        self._stack.close()

    def folder_for(self, name: str) -> Path:
        """A new folder."""
        place = self.folder / name
        place.mkdir(parents=True)
        return place

    @cached_property
    def server(self) -> HttpProcess:
        """A server over HTTP with an audit trail."""
        folder = self.folder_for("server")
        config = folder / "settings.toml"
        config.write_text(f'{tokens()}[audit]\nfolder = "{folder / "audit"}"\nkey = "{folder / "key"}"\n')
        process = HttpProcess("hard:server", "--config", str(config), env={"STRICTWIRE_AUDIT_MODE": "batched"})
        self._adopt("server", process, call("add", a=1, b=2))
        return process

    @cached_property
    def script(self) -> Path:
        """What the hostile upstream process offers and does; see bad_upstream.py."""
        return self.folder_for("upstream") / "script.json"

    @cached_property
    def web(self) -> WebUpstream:
        """The hostile upstream over HTTP."""
        upstream = WebUpstream()
        self._stack.callback(upstream.close)
        return upstream

    @cached_property
    def guard(self) -> GuardHttpProcess:
        """A guard over HTTP in front of an honest upstream `good`, and two hostile ones, `bad` (a process) and `web`."""
        self.script.write_text("{}")
        config = self.folder_for("guard") / "settings.toml"
        good, bad = (json.dumps([PYTHON, "-S", str(place), *more]) for place, *more in (
            (HERE.parent / "fixtures" / "crowd_upstream.py", "good"), (HERE / "bad_upstream.py", str(self.script)),
        ))  # fmt: skip
        hostile = "timeout_seconds = 2\nmax_call_seconds = 4\nhealth_seconds = 1\n"
        config.write_text(
            f'{tokens()}[guard.upstreams.good]\nprefix = "good_"\ncommand = {good}\n'
            f'[guard.upstreams.bad]\nprefix = "bad_"\ncommand = {bad}\n{hostile}'
            f'[guard.upstreams.web]\nprefix = "web_"\nurl = "{self.web.url}"\n{hostile}'
        )
        process = GuardHttpProcess("", "--config", str(config))
        self._adopt("guard", process, call("good_who", x=1))
        return process

    @cached_property
    def workspace(self) -> HttpServer:
        """A server with the workspace pack. The attacker has every role; `rita` approves what she is shown."""
        folder = self.folder_for("workspace")
        (folder / "top").mkdir()
        everyone = {"ANTIGRAVITY": [ATTACKER, "rita"], "WINDSURF": [ATTACKER]}
        names = (ATTACKER, "rita")
        server = self._stack.enter_context(
            serve_http(folder, folder / "top", owners=names, roles=everyone, approvers=["rita"], commands=["sh"])
        )
        self.watched["workspace"] = server.pid
        self._innocents["workspace"] = Innocent(server.port, modern(1, "tools/list"), "secret-rita")
        self._stack.callback(self._innocents["workspace"].close)
        return server

    def _adopt(self, name: str, process: HttpProcess, innocent: bytes) -> None:
        self._stack.callback(process.close)
        self.watched[name] = process.process.pid
        self._innocents[name] = Innocent(process.port, innocent, INNOCENT)
        self._stack.callback(self._innocents[name].close)

    @contextmanager
    def watch(self, name: str, pid: int) -> Iterator[None]:
        """Measure the memory of a process that lives only for one case, and has no innocent client."""
        self.watched[name] = pid
        try:
            yield
        finally:
            self._past[name] = self._usage(name, self.watched.pop(name), None)

    def take_usage(self) -> dict[str, Usage]:
        """What every process used since the last time. Waits until each has answered its innocent client once more."""
        taken = {name: self._innocents[name].take() for name in self.watched if name in self._innocents}
        past, self._past = self._past, {}
        usage = past | {name: self._usage(name, pid, taken.get(name)) for name, pid in self.watched.items()}
        for pid in self.watched.values():
            with suppress(OSError):
                Path(f"/proc/{pid}/clear_refs").write_text("5")  # resets VmHWM
        return usage

    def serve_innocents(self) -> None:
        """Wait until every innocent client has had a request served, or refused, that began after this call."""
        for innocent in self._innocents.values():
            innocent.wait()

    def _usage(self, name: str, pid: int, taken: tuple[float, int, int] | None) -> Usage:
        seconds, answers, refusals = taken or (0.0, 0, 0)
        resident = KILL_RESIDENT if pid in self.killed else peak_resident(pid)
        return Usage(resident=resident, seconds=seconds, answers=answers, refusals=refusals)

    def check_alive(self, process: HttpProcess) -> None:
        """The process runs and no exception has escaped."""
        assert process.process.poll() is None, f"it ended with {process.process.returncode}"
        assert not any(TRACEBACK in line for line in process.errors), b"".join(process.errors[-30:]).decode()

    def _kill_what_grows(self) -> None:
        while not self._ended.wait(0.05):
            for pid in list(self.watched.values()):
                if peak_resident(pid) > KILL_RESIDENT:
                    self.killed.add(pid)
                    with suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)


class Innocent:
    """A client in a process of its own that calls one tool again and again on new connections."""

    def __init__(self, port: int, body: bytes, token: str) -> None:
        given = {"port": port, "body": body.decode(), "headers": bearer(body, token)}
        self.process = subprocess.Popen(
            [sys.executable, "-S", str(HERE / "innocent.py"), json.dumps(given)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.take()

    def take(self) -> tuple[float, int, int]:
        """Longest answer time, answers and refusals since the last time."""
        seconds, answers, refusals = json.loads(self._ask("take"))
        return seconds, answers, refusals

    def wait(self) -> None:
        """Wait for a request that begins from now on."""
        self._ask("wait")

    def _ask(self, word: str) -> str:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(word + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline()

    def close(self) -> None:
        """End it."""
        self.process.kill()
        self.process.communicate()

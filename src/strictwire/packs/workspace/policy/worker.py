"""The server's side of one worker process of the policy check: start, ask, end. `worker_process` is the other side.

A worker gets an empty environment, no file descriptors except its pipes, and its own session. It exits when the server does,
however the server ends.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO, Final, cast

from strictwire.canon.json import JsonObject, NotStrict, parse_object, render
from strictwire.packs.kit.grammars import MODULES
from strictwire.packs.workspace.policy.rule import Severity
from strictwire.packs.workspace.policy.worker_process import HEADER

START_SECONDS: Final = 15.0
"""Longest time until a worker is ready; usually it takes a fifth of a second."""

_PROGRAM: Final = Path(__file__).with_name("worker_process.py")

_IMPORTED: Final = ("strictwire", "msgspec", *MODULES)
"""What a worker imports besides the standard library."""

_MAX_ANSWER: Final = 64 * 1024
"""Longest answer, in bytes. A hundred warnings stay far below."""

_GRACE: Final = 1.0
"""Seconds after the time limit at which a worker ends itself, in case the server has died and cannot kill it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A file as a change would leave it."""

    path: str
    old: bytes | None
    new: bytes

    @property
    def size(self) -> int:
        """Bytes to check."""
        return len(self.old or b"") + len(self.new)


class Died(Exception):
    """The worker ended without an answer."""


class TooSlow(Exception):
    """The worker was killed because it exceeded its time limit."""


@dataclass(slots=True, eq=False)
class Worker:
    """See the module docstring. Used by one thread at a time; only `kill` may be called from any thread."""

    process: subprocess.Popen[bytes]
    timed_out: bool = False
    """Whether it was killed because it exceeded its time limit."""

    @property
    def is_alive(self) -> bool:
        """Whether the worker can be used, as far as known."""
        return not self.timed_out and self.process.poll() is None

    def wait_until_ready(self) -> None:
        """Wait for the line that says that the worker is ready. Raises TooSlow, Died."""
        with self._time_limit(START_SECONDS) as (_, stdout):
            if stdout.readline(_MAX_ANSWER) != b"\n":
                raise Died

    def ask(self, draft: Draft, seconds: float) -> JsonObject:
        """Check a draft and return the answer of `worker_process.answer`. Raises TooSlow, Died."""
        path, old = draft.path.encode(), -1 if draft.old is None else len(draft.old)
        header = HEADER.pack(seconds + _GRACE, len(path), old, len(draft.new))
        with self._time_limit(seconds) as (stdin, stdout):
            for each in (header, path, draft.old or b"", draft.new):
                stdin.write(each)
            stdin.flush()
            return parse_object(stdout.readline(_MAX_ANSWER))

    def kill(self) -> None:
        """Kill the worker. A thread that waits for its answer gets Died."""
        self.process.kill()

    def end(self) -> int:
        """Kill the worker and release its resources. Returns its exit code; a negative number is a signal."""
        self.process.kill()
        code = self.process.wait()
        for pipe in self._pipes():
            # Closing flushes what was not sent, which fails because the worker is gone.
            with suppress(OSError):
                pipe.close()
        return code

    @contextmanager
    def _time_limit(self, seconds: float) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
        """Yield the pipes, and kill the worker after the time limit, which breaks them. Raises TooSlow, Died."""
        watch = threading.Timer(seconds, self._kill_on_timeout)
        watch.daemon = True
        watch.start()
        try:
            yield self._pipes()
        except (OSError, NotStrict, Died) as exc:
            raise (TooSlow if self.timed_out else Died) from exc
        finally:
            watch.cancel()

    def _pipes(self) -> tuple[IO[bytes], IO[bytes]]:
        """Return stdin and stdout; `start` has requested both."""
        return cast("IO[bytes]", self.process.stdin), cast("IO[bytes]", self.process.stdout)

    def _kill_on_timeout(self) -> None:
        self.timed_out = True
        self.process.kill()


def start(severities: Mapping[str, Severity]) -> Worker:
    """Start a worker; it is not ready yet. Raises OSError if the system cannot start it."""
    order: JsonObject = {"folders": _folders(), "severities": {rule: each.value for rule, each in severities.items()}}
    process = subprocess.Popen(
        # -I -S: nothing is imported from the working directory, which may be the workspace, or from where environment
        # variables point, or from site-packages.
        [sys.executable, "-I", "-S", str(_PROGRAM), render(order).decode()],
        cwd="/",
        env={},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    return Worker(process)


@cache
def _folders() -> list[str]:
    """Return the folders that contain what a worker imports."""
    found = (importlib.util.find_spec(name) for name in _IMPORTED)
    places = (Path(spec.origin).parents[1] for spec in found if spec is not None and spec.origin is not None)
    return list(dict.fromkeys(str(each) for each in places))

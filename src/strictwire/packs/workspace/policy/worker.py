"""One process that judges content, as the server sees it: started, asked, ended. What it does itself is in `process`.

It gets no environment, no descriptors but its pipes and a session of its own, and ends when the server does, however that
ends.
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
from strictwire.packs.workspace.policy.process import HEADER
from strictwire.packs.workspace.policy.rule import Severity

START_SECONDS: Final = 15.0
"""Until a process is ready, which takes a fifth of a second of work."""

_PROGRAM: Final = Path(__file__).with_name("process.py")

_IMPORTED: Final = ("strictwire", "msgspec", *MODULES)
"""What it imports besides the standard library."""

_MAX_ANSWER: Final = 64 * 1024
"""Bytes of one answer: a hundred warnings are far below."""

_LATE: Final = 1.0
"""Seconds after its time at which a process ends itself, if nobody is left to do it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A file as a change would leave it."""

    path: str
    old: bytes | None
    new: bytes

    @property
    def size(self) -> int:
        """Bytes that there are to judge."""
        return len(self.old or b"") + len(self.new)


class Died(Exception):
    """The process ended without an answer."""


class TooSlow(Exception):
    """The process was killed for the time it took."""


@dataclass(slots=True, eq=False)
class Worker:
    """See the module. For one thread at a time; `kill` is for any."""

    process: subprocess.Popen[bytes]
    is_late: bool = False
    """Whether it was killed for the time it took."""

    @property
    def is_alive(self) -> bool:
        """Whether it could be asked, as far as is known."""
        return not self.is_late and self.process.poll() is None

    def wait_until_ready(self) -> None:
        """Raises TooSlow, Died."""
        with self._watched(START_SECONDS) as (_, stdout):
            if stdout.readline(_MAX_ANSWER) != b"\n":
                raise Died

    def ask(self, draft: Draft, seconds: float) -> JsonObject:
        """What `process.answer` says. Raises TooSlow, Died."""
        path, old = draft.path.encode(), -1 if draft.old is None else len(draft.old)
        header = HEADER.pack(seconds + _LATE, len(path), old, len(draft.new))
        with self._watched(seconds) as (stdin, stdout):
            for each in (header, path, draft.old or b"", draft.new):
                stdin.write(each)
            stdin.flush()
            return parse_object(stdout.readline(_MAX_ANSWER))

    def kill(self) -> None:
        """End the process; whoever waits for its answer gets none."""
        self.process.kill()

    def end(self) -> int:
        """End the process and give back all that it holds; its exit code, or less than zero the signal that ended it."""
        self.process.kill()
        code = self.process.wait()
        for pipe in self._pipes():
            # What was not sent has nobody to be sent to.
            with suppress(OSError):
                pipe.close()
        return code

    @contextmanager
    def _watched(self, seconds: float) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
        """Its pipes, which break when the time is over. Raises TooSlow, Died."""
        watch = threading.Timer(seconds, self._kill_late)
        watch.daemon = True
        watch.start()
        try:
            yield self._pipes()
        except (OSError, NotStrict, Died) as exc:
            raise (TooSlow if self.is_late else Died) from exc
        finally:
            watch.cancel()

    def _pipes(self) -> tuple[IO[bytes], IO[bytes]]:
        """`start` asks for both."""
        return cast("IO[bytes]", self.process.stdin), cast("IO[bytes]", self.process.stdout)

    def _kill_late(self) -> None:
        self.is_late = True
        self.process.kill()


def start(severities: Mapping[str, Severity]) -> Worker:
    """A process that will be ready soon. Raises OSError: the system has none to give."""
    order: JsonObject = {"folders": _folders(), "severities": {rule: each.value for rule, each in severities.items()}}
    process = subprocess.Popen(
        # Isolated and without site-packages of its own: nothing is imported from the working folder, which may be the
        # workspace, or from where an environment points.
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
    """Where what it imports lies."""
    found = (importlib.util.find_spec(name) for name in _IMPORTED)
    places = (Path(spec.origin).parents[1] for spec in found if spec is not None and spec.origin is not None)
    return list(dict.fromkeys(str(each) for each in places))

"""A client on standard input that sends malformed or too many messages, or does not read. Each case has its own server."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from tests.abuse import json_text
from tests.abuse.arena import TRACEBACK, Arena, Attack, call
from tests.fixtures.live import PATIENCE, StdioProcess

LAST = call("add", "last", a=1, b=2)
"""Answered after everything else; its answer shows that the server still serves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines:
    """What a client writes."""

    raw: bytes
    is_read: bool = True
    """Whether the client reads while it writes. If not, it reads when the server takes no more, or all is written."""


class PausedProcess(StdioProcess):
    """A server whose output is not read before `resume`."""

    def __init__(self, *given: str) -> None:
        self._may_read = threading.Event()
        super().__init__(*given)

    def resume(self) -> None:
        self._may_read.set()

    def _read_lines(self) -> None:
        self._may_read.wait(3 * PATIENCE)
        super()._read_lines()


def garbage(random: Random) -> Lines:
    return Lines(raw=b"\n".join(random.randbytes(random.randint(0, 3000)) for _ in range(100)) + b"\n")


def damaged(random: Random) -> Lines:
    return Lines(raw=b"\n".join(json_text.damage(json_text.odd(random), random) for _ in range(150)) + b"\n")


def blank(random: Random) -> Lines:
    return Lines(raw=random.choice([b"\n", b"\r\n", b" \n", b"\x00\n"]) * 20_000)


def endless(random: Random) -> Lines:
    """One line, far longer than a message may be."""
    return Lines(raw=random.choice([b"[", b"a", b"\x00", b'{"a":']) * 40_000_000 + b"\n")


def cancelled(random: Random) -> Lines:
    """Calls that wait, cancelled at once, with ids of both types."""
    pairs = []
    for number in random.sample(range(10**6), 400):
        named = random.choice([str(number), f'"{number}"'])
        pairs.append(call("hold", number, name=str(number)).replace(f'"id":{number}'.encode(), f'"id":{named}'.encode()))
        pairs.append(f'{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{named}}}}}'.encode())
    return Lines(raw=b"\n".join(pairs) + b"\n")


def repeated(make: Callable[[Random], bytes]) -> Callable[[Random], Lines]:
    return lambda random: Lines(raw=(make(random) + b"\n") * random.choice([1, 4]))


def unread(random: Random) -> Lines:
    """Small requests for large answers."""
    size = random.choice([100_000, 600_000])
    return Lines(raw=b"".join(call("big_at_once", n, size=size) + b"\n" for n in range(700)), is_read=False)


def check(case: Lines, arena: Arena) -> None:
    """The server answers the request behind it all, and reports no fault of its own."""
    with PausedProcess("hard:server") as process, arena.watch("stdio", process.process.pid):
        writer = threading.Thread(target=_write, args=(process, case.raw + LAST + b"\n"), daemon=True)
        writer.start()
        if not case.is_read:
            writer.join(3.0)
        process.resume()
        found = _read_until_last(process)
        writer.join(PATIENCE)

    assert found == []
    assert not any(TRACEBACK in line for line in process.errors)


def _write(process: StdioProcess, raw: bytes) -> None:
    try:
        process.write(raw)
    except OSError:
        return


def _read_until_last(process: StdioProcess) -> list[bytes]:
    """Read up to the last answer. Returns answers that report a fault of the server."""
    found = []
    try:
        while b'"id":"last"' not in (line := process.line(2 * PATIENCE)):
            if b'"INTERNAL"' in line:
                found.append(line[:500])
    except (queue.Empty, EOFError):
        raise AssertionError("the server does not answer any more") from None
    return found


ATTACK = Attack(
    name="stdio",
    kinds={
        "garbage": garbage,
        "damaged": damaged,
        "blank": blank,
        "endless": endless,
        "cancelled": cancelled,
        "unread": unread,
        "deep": repeated(json_text.deep),
        "wide": repeated(json_text.wide),
        "long_number": repeated(json_text.long_number),
        "many_names": repeated(json_text.many_names),
        "capabilities": repeated(json_text.capabilities),
    },
    check=check,
    lengthy=frozenset({"endless", "blank"}),
    exceeding=frozenset({"unread", "wide", "many_names", "capabilities"}),
)

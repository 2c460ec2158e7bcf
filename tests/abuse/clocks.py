"""A wall clock that jumps, mostly backwards, while a server runs."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from random import Random

from strictwire.canon.json import parse_object
from tests.abuse.arena import TRACEBACK, Arena, Attack, call
from tests.fixtures.guards import PYTHON, STRICTWIRE
from tests.fixtures.live import PATIENCE, StdioProcess, environment, modern

HERE = Path(__file__).parent
YEAR = 365 * 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Jumps:
    """Seconds that are added to the time, one after the other."""

    offsets: tuple[float, ...]


class ShiftedProcess(StdioProcess):
    """A server on standard input and output whose clock is set by a file."""

    def command(self, place: str, *arguments: str) -> list[str]:
        offset, *more = arguments
        return [PYTHON, str(HERE / "shifted_clock.py"), offset, "serve", place, "--stdio", *more]


def backwards(random: Random) -> Jumps:
    steps = [random.choice([0.001, 1.0, 60.0, 3600.0, YEAR]) for _ in range(12)]
    return Jumps(offsets=tuple(-sum(steps[:count]) for count in range(1, 13)))


def to_and_fro(random: Random) -> Jumps:
    return Jumps(offsets=tuple(random.uniform(-YEAR, YEAR) for _ in range(12)))


def around(moment: float) -> Callable[[Random], Jumps]:
    """Around a moment at which counters of seconds overflow or are zero."""
    return lambda random: Jumps(offsets=tuple(moment - time.time() + random.uniform(-2, 3) for _ in range(12)))


def check(case: Jumps, arena: Arena) -> None:
    """Every call is answered and recorded, and the trail verifies."""
    folder = arena.folder / "clocks" / os.urandom(4).hex()
    folder.mkdir(parents=True)
    config, offset = folder / "settings.toml", folder / "offset"
    config.write_text(f'[audit]\nfolder = "{folder / "audit"}"\nkey = "{folder / "keys" / "key"}"\n')
    offset.write_text("0")
    began = time.time()
    given = ("hard:server", str(offset), "--config", str(config))
    with ShiftedProcess(*given, env={"STRICTWIRE_AUDIT_MODE": "sync"}) as process:
        answers = []
        for number, seconds in enumerate(case.offsets):
            _set(offset, seconds)
            answers.append(process.ask(call("add", number, a=1, b=number)))
            answers.append(process.ask(modern(f"list {number}", "tools/list")))
        process.end_input()
        process.rest()
        assert process.process.wait(PATIENCE) == 0
    verified = subprocess.run(
        [STRICTWIRE, "audit", "verify", "--config", str(config)], env=environment(), capture_output=True, check=False
    )
    records = [parse_object(line) for line in (folder / "audit" / "audit-log.jsonl").read_bytes().splitlines()]
    times = [
        datetime.fromisoformat(record["timestamp"]).timestamp() for record in records if record.get("tool_name") == "add"
    ]

    assert all("result" in answer for answer in answers), answers
    assert not any(TRACEBACK in line for line in process.errors)
    assert len(times) == len(case.offsets)
    assert all(abs(at - began - seconds) < 3 * PATIENCE for at, seconds in zip(times, case.offsets, strict=True))
    assert verified.returncode == 0, verified.stdout


def _set(offset: Path, seconds: float) -> None:
    """Replace the file at once: the server never reads half of a number."""
    new = offset.with_suffix(".new")
    new.write_text(repr(seconds))
    new.replace(offset)


ATTACK = Attack(
    name="clocks",
    kinds={
        "backwards": backwards,
        "to_and_fro": to_and_fro,
        "epoch": around(3.0),
        "year_2038": around(2.0**31),
    },
    check=check,
    lengthy=frozenset({"to_and_fro", "epoch"}),
)

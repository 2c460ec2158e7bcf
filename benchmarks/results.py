"""The results of a benchmark part, as values that can be stored in a file, and statistics over repeated runs."""

from __future__ import annotations

import json
import os
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.drive import Measurement


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How long and how often to measure."""

    seconds: float = 0.4
    rounds: int = 7
    """Many short turns, so that a temporary slowdown of the machine affects all contenders alike."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The medians over the runs of one contender in one scenario."""

    rate: float
    """Calls per second."""
    p50: float
    """Median latency in microseconds."""
    cpu: float
    """CPU time of the server per call in microseconds."""
    busy: float
    """Highest share of the time that the load generator used the CPU."""
    rates: tuple[float, ...] = ()
    p50s: tuple[float, ...] = ()
    cpus: tuple[float, ...] = ()
    """The values of every round."""


def compare_rounds(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """The ratio of ours to theirs: the median over the rounds, each compared within the round."""
    return statistics.median(mine / other for mine, other in zip(ours, theirs, strict=True))


def summarise(runs: Sequence[Measurement]) -> Summary:
    """The medians over the runs; `busy` is the maximum."""
    rates = tuple(run.rate for run in runs)
    p50s = tuple(run.p50 * 1e6 for run in runs)
    cpus = tuple(run.cpu_a_call * 1e6 for run in runs)
    return Summary(
        rate=statistics.median(rates),
        p50=statistics.median(p50s),
        cpu=statistics.median(cpus),
        busy=max(run.client_busy for run in runs),
        rates=rates,
        p50s=p50s,
        cpus=cpus,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows under a title."""

    title: str
    columns: list[str]
    rows: list[list[str]]
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """A target figure and the measured value."""

    text: str
    wanted: str
    found: str
    reached: bool | None
    """None if it could not be measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """A line plot."""

    name: str
    """The name of its file, without a suffix."""
    title: str
    across: str
    up: str
    lines: dict[str, list[tuple[float, float]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class PartResult:
    """The result of one part."""

    part: str
    tables: list[Table] = field(default_factory=list)
    goals: list[Goal] = field(default_factory=list)
    plots: list[Plot] = field(default_factory=list)
    text: str = ""
    """The output of a part that is a separate program."""
    stamp: dict[str, str] = field(default_factory=dict)
    """Time, command and load of the machine."""


def at_least(text: str, wanted: float, found: float | None, detail: str = "") -> Goal:
    """A goal for a ratio with a lower bound."""
    shown = "not measured" if found is None else f"{found:.2f}"
    return Goal(text=text, wanted=f"≥ {wanted:g}", found=shown + detail, reached=None if found is None else found >= wanted)


def at_most(text: str, wanted: float, found: float | None, detail: str = "") -> Goal:
    """A goal for a ratio with an upper bound."""
    shown = "not measured" if found is None else f"{found:.2f}"
    return Goal(
        text=text, wanted=f"≤ {wanted:.2f}", found=shown + detail, reached=None if found is None else found <= wanted
    )


def not_measured(text: str, reason: str) -> Goal:
    """A goal that could not be measured, and the reason."""
    return Goal(text=text, wanted="-", found=reason, reached=None)


def write_result(found: PartResult, folder: Path) -> None:
    """Store a result for the page."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{found.part}.json").write_text(json.dumps(asdict(found), indent=1))


def read_result(path: Path) -> PartResult:
    """Read a stored result."""
    kept: dict[str, Any] = json.loads(path.read_text())
    return PartResult(
        part=kept["part"],
        tables=[Table(**each) for each in kept["tables"]],
        goals=[Goal(**each) for each in kept["goals"]],
        plots=[
            Plot(**{**each, "lines": {name: [(x, y) for x, y in points] for name, points in each["lines"].items()}})
            for each in kept["plots"]
        ],
        text=kept["text"],
        stamp=kept["stamp"],
    )


def machine_load() -> str:
    """The load average of the last minute, and the number of cores."""
    return f"{os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"

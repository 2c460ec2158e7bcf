"""What a part of the benchmark found, as values that can be kept in a file, and the arithmetic on repeated runs."""

from __future__ import annotations

import json
import os
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.drive import Measured


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How long to measure."""

    seconds: float = 0.4
    rounds: int = 7
    """Many short turns: a machine that becomes slower for a while does so for everybody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The medians of some runs of one contender in one scenario."""

    rate: float
    """Calls a second."""
    p50: float
    """Median latency, microseconds."""
    cpu: float
    """CPU time of the server for a call, microseconds."""
    busy: float
    """Share of the time that the load was working, at most."""
    rates: tuple[float, ...] = ()
    p50s: tuple[float, ...] = ()
    cpus: tuple[float, ...] = ()
    """The same of every round."""


def compare_rounds(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """How many times theirs ours is: the median of the rounds, each compared with itself."""
    return statistics.median(mine / other for mine, other in zip(ours, theirs, strict=True))


def summarise(runs: Sequence[Measured]) -> Summary:
    """Medians; how busy the load was is the maximum."""
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
    """A figure to reach, and what was found."""

    text: str
    wanted: str
    found: str
    reached: bool | None
    """None: it could not be measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """Lines over one axis."""

    name: str
    """The name of its file."""
    title: str
    across: str
    up: str
    lines: dict[str, list[tuple[float, float]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Everything that one part found."""

    part: str
    tables: list[Table] = field(default_factory=list)
    goals: list[Goal] = field(default_factory=list)
    plots: list[Plot] = field(default_factory=list)
    text: str = ""
    """What a part that prints for itself has printed."""
    stamp: dict[str, str] = field(default_factory=dict)
    """When, with which command and under which load of the machine."""


def at_least(text: str, wanted: float, found: float | None, detail: str = "") -> Goal:
    """A ratio that must not be smaller."""
    shown = "not measured" if found is None else f"{found:.2f}"
    return Goal(text=text, wanted=f"≥ {wanted:g}", found=shown + detail, reached=None if found is None else found >= wanted)


def at_most(text: str, wanted: float, found: float | None, detail: str = "") -> Goal:
    """A ratio that must not be larger."""
    shown = "not measured" if found is None else f"{found:.2f}"
    return Goal(
        text=text, wanted=f"≤ {wanted:.2f}", found=shown + detail, reached=None if found is None else found <= wanted
    )


def not_measured(text: str, reason: str) -> Goal:
    """A figure that nobody could look at, and why."""
    return Goal(text=text, wanted="-", found=reason, reached=None)


def write_found(found: Found, folder: Path) -> None:
    """Keep it for the page."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{found.part}.json").write_text(json.dumps(asdict(found), indent=1))


def read_found(path: Path) -> Found:
    """What was kept."""
    kept: dict[str, Any] = json.loads(path.read_text())
    return Found(
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
    """Processes that wanted a core in the last minute."""
    return f"{os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"

"""Figures of the Unity benchmark: what was measured, against what, and whether the goal is reached."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One line of the report."""

    text: str
    found: str
    wanted: str = ""
    """Empty: for information."""
    reached: bool | None = True
    """None: not measured."""


_VERDICTS: Final[Mapping[bool | None, str]] = {True: "ok", False: "MISSED", None: "-"}


def cpu_seconds(work: Callable[[], object], rounds: int) -> float:
    """The median CPU time of some rounds. Other load on the machine hardly changes it."""
    spent = []
    for _ in range(rounds):
        began = time.process_time()
        work()
        spent.append(time.process_time() - began)
    return statistics.median(spent)


def at_least(text: str, ratio: float, wanted: float, detail: str) -> Figure:
    """A figure that says how many times faster something is."""
    return Figure(text=text, found=f"{ratio:.1f}x ({detail})", wanted=f"at least {wanted:g}x", reached=ratio >= wanted)


def at_most(text: str, share: float, wanted: float, detail: str) -> Figure:
    """A figure that says which share of something else it takes."""
    return Figure(text=text, found=f"{share:.2%} ({detail})", wanted=f"at most {wanted:.0%}", reached=share <= wanted)


def render(figures: Sequence[Figure]) -> str:
    """The report."""
    lines = []
    for each in figures:
        verdict = _VERDICTS[each.reached] if each.wanted else ""
        goal = f" [{each.wanted}]" if each.wanted else ""
        lines.append(f"{verdict:8}{each.text}: {each.found}{goal}")
    return "\n".join(lines)

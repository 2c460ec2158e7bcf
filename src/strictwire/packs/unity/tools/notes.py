"""Diagnostics: what is incomplete about an answer, in one sentence each. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from strictwire.packs.unity.hierarchy.sources import Obstacle
from strictwire.packs.unity.hierarchy.tree import Findings

MAX_NAMED: Final = 5
"""Paths that a sentence names."""

DERIVED_IDS: Final = (
    "Some instanceId values are derived from file ids; the Editor assigns its own. Set includeFileIds for the real ids."
)

TOO_DEEP: Final = "Objects that are nested too deeply are left out."


def some(names: Sequence[str]) -> str:
    """A few names, and how many more there are."""
    more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
    return ", ".join(names[:MAX_NAMED]) + more


def count(number: int, noun: str) -> str:
    """`1 object`, `2 objects`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def stopped(elapsed_ms: int, done: int, total: int) -> str:
    """The note of a scan that its time limit ended."""
    return f"Scan stopped after {elapsed_ms}ms. Processed {done} of {total} items. Results may be partial."


def tree_notes(findings: Findings) -> Iterator[str]:
    """What is incomplete about a tree."""
    for problem in findings.problems[:MAX_NAMED]:
        yield f"The file is damaged: {problem}. What belongs to it may be missing here."
    for obstacle, paths in findings.obstacles.items():
        noun = "Model" if obstacle is Obstacle.MODEL else "Prefab"
        yield f"{noun} content is not shown for {some(paths)}: it {obstacle.value}."
    if findings.dangling:
        yield f"{count(findings.dangling, 'reference')} to objects that are not in their file; the file may be truncated."
    if findings.unreachable:
        yield f"{count(findings.unreachable, 'object')} left out: the parents form a cycle."
    if findings.unplaced:
        yield (
            f"{count(findings.unplaced, 'part')} attached to something that cannot be read: objects are shown "
            "below the root of their instance, components are left out."
        )
    if findings.is_cut:
        yield "The expansion stopped at the limit of objects; some prefab instances are shown without their content."
    if findings.is_late:
        yield "The expansion stopped at its time limit; some prefab instances are shown without their content."


def script_notes(unknown: int) -> Iterator[str]:
    """What is not known about type names."""
    if unknown:
        yield f"{count(unknown, 'script')} shown as MonoBehaviour: the package is not on disk, so the class is not known."

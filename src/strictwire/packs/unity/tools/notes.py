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


def some(names: Sequence[str]) -> str:
    """A few names, and how many more there are."""
    more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
    return ", ".join(names[:MAX_NAMED]) + more


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
        yield f"{findings.dangling} references lead to objects that are not in their file; the file may be truncated."
    if findings.unreachable:
        yield f"{findings.unreachable} objects are left out: their parents form a cycle."
    if findings.unplaced:
        yield (
            f"{findings.unplaced} objects or components are attached to parts that cannot be read; objects are shown "
            "below the root of their instance, components are left out."
        )
    if findings.is_cut:
        yield "The expansion stopped at the limit of objects; some prefab instances are shown without their content."
    if findings.is_late:
        yield "The expansion stopped at its time limit; some prefab instances are shown without their content."


def script_notes(unknown: int) -> Iterator[str]:
    """What is not known about type names."""
    if unknown:
        yield f"{unknown} scripts are shown as MonoBehaviour: their packages are not on disk, so the class is not known."

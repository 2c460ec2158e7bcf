"""A semantic diff of two scenes of 10 MB and 50,000 objects, against the time it takes to read both."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tests.packs.unity.writer_sizes import scene_pair

from benchmarks.unity_figures import Figure, cpu_seconds
from strictwire.packs.unity.diff.model import Change
from strictwire.packs.unity.diff.scene import SceneDiff
from strictwire.packs.unity.diff.side import Side
from strictwire.packs.unity.sources import Sources
from strictwire.packs.unity.yaml.document import read_documents

ROUNDS: Final = 5
AGAINST_READING: Final = 2.0


def measure() -> Iterator[Figure]:
    """Every figure of the diff."""
    pair = scene_pair()
    changes = _compare(pair.before, pair.after)
    size = (len(pair.before) + len(pair.after)) / 2e6
    objects = pair.before.count(b"\n--- ")
    yield Figure(text="scenes to compare", found=f"{size:.1f} MB and {objects:,} objects each, {len(changes)} changes")
    reading = cpu_seconds(lambda: [list(read_documents(raw)) for raw in (pair.before, pair.after)], ROUNDS)
    ours = cpu_seconds(lambda: _compare(pair.before, pair.after), ROUNDS)
    ratio = ours / reading
    found = f"{ratio:.2f}x ({ours * 1e3:.0f} ms / {reading * 1e3:.0f} ms CPU)"
    wanted = f"at most {AGAINST_READING:g}x"
    yield Figure(text="diff against reading both", found=found, wanted=wanted, reached=ratio <= AGAINST_READING)


def _compare(before: bytes, after: bytes) -> list[Change]:
    nothing = Sources(lambda _guid: None, lambda _path: b"")
    return list(SceneDiff(Side(before, nothing, lambda _guid: None), Side(after, nothing, lambda _guid: None)).changes())

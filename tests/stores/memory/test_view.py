"""The trail in memory answers as the one on disk does."""

from __future__ import annotations

from pathlib import Path

import pytest

from strictwire.audit.merkle import fold_inclusion, leaf_hash
from strictwire.audit.view import TrailView
from strictwire.fault.failure import Refused
from strictwire.stores.files.config import open_writer
from strictwire.stores.files.keys import load_or_make_key
from strictwire.stores.files.view import FileTrailView
from strictwire.stores.memory.recorder import MemoryRecorder
from strictwire.stores.memory.view import MemoryTrailView
from tests.stores.trails import body, trail_in

COUNT = 11


async def views(folder: Path) -> tuple[TrailView, TrailView]:
    """The same records, in memory and on disk."""
    trail = trail_in(folder)
    key = load_or_make_key(trail.key_path, log_folder=trail.folder)
    recorder = MemoryRecorder(tag_key=key.tag_key)
    for number in range(COUNT):
        recorder.append([body(f"call {number}")], lambda _failure: None)
    log = open_writer(trail)
    log.append([body(f"call {number}") for number in range(COUNT)])
    log.close()
    return MemoryTrailView(recorder), FileTrailView(trail)


async def test_both_give_the_same_lines_and_judgements(tmp_path: Path) -> None:
    memory, folder = await views(tmp_path)

    for before in (None, 0, 1, 7, COUNT):
        assert list(memory.lines_back(before)) == list(folder.lines_back(before))
    for limit in (1, 4, COUNT, COUNT + 1):
        assert memory.judge(limit=limit) == folder.judge(limit=limit)
    half = folder.judge(limit=5)
    assert memory.judge(half, limit=50) == folder.judge(half, limit=50)


async def test_both_prove_the_same_records_and_refuse_those_there_are_not(tmp_path: Path) -> None:
    memory, folder = await views(tmp_path)
    mine, theirs = memory.prove([0, 5, COUNT - 1]), folder.prove([0, 5, COUNT - 1])

    assert (mine.proofs, mine.checkpoint.root) == (theirs.proofs, theirs.checkpoint.root)
    for proof in mine.proofs:
        root = fold_inclusion(leaf_hash(proof.line), index=proof.index, size=COUNT, proof=proof.hashes)
        assert root == mine.checkpoint.root
    for view in (memory, folder):
        with pytest.raises(Refused) as caught:
            view.prove([COUNT])
        assert caught.value.failure.details == {"reason": "no_such_record"}

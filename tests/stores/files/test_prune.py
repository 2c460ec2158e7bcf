"""Retention: what is removed, and what is left can still be proved."""

from __future__ import annotations

import pytest

from strictwire.audit.proof import check_inclusion
from strictwire.audit.verify import Reason
from strictwire.stores.files.config import TrailConfig, open_writer
from strictwire.stores.files.disk import FolderDisk
from strictwire.stores.files.keys import read_public_key
from strictwire.stores.files.layout import list_segments
from strictwire.stores.files.proofs import NoProof, prove_record
from strictwire.stores.files.prune import Pruned, prune_trail
from strictwire.stores.files.reading import read_trail
from strictwire.stores.records import Filters
from tests.stores.trails import HandClock, body, hour_of, seqs, verify


@pytest.mark.parametrize("hour", [0, 1, 5, 13, 19])
def test_pruning_removes_what_is_older_and_what_is_left_is_still_proved(trail: TrailConfig, hour: int):
    key = read_public_key(trail.key_path)
    pruned = prune_trail(trail, hour_of(hour), clock=HandClock().clock)
    log = open_writer(trail)
    log.append([body("after")])
    log.sign()
    log.close()
    verdict = verify(trail)
    left = seqs(trail, Filters(kind="call"))

    assert pruned == Pruned(first=hour, removed=hour)
    assert verdict.finding is None, verdict.finding
    assert verdict.first == hour
    assert left == [*range(hour, 20), 21 if hour else 20]
    assert check_inclusion(prove_record(trail.folder, key, 19), key).index == 19
    if hour:
        with pytest.raises(NoProof, match="no_such_record"):
            prove_record(trail.folder, key, hour - 1)


def test_pruning_everything_leaves_the_prune_record(trail: TrailConfig):
    pruned = prune_trail(trail, "2027", clock=HandClock().clock)
    records = [stored.record for stored in read_trail(trail.folder)]

    assert pruned == Pruned(first=20, removed=20)
    assert [(record["kind"], record["first"], record["before"]) for record in records] == [("prune", 20, "2027")]
    assert verify(trail).ok


def test_pruning_twice_and_a_writer_that_was_open_all_the_time(trail: TrailConfig):
    log = open_writer(trail)
    log.append([body("before")])
    prune_trail(trail, hour_of(3), clock=HandClock().clock)
    log.append([body("between")])
    prune_trail(trail, hour_of(6), clock=HandClock().clock)
    log.append([body("after")])
    log.close()

    assert verify(trail).ok
    assert verify(trail).first == 6


def test_records_that_are_gone_without_a_prune_record_are_missed(trail: TrailConfig):
    prune_trail(trail, hour_of(3), clock=HandClock().clock)
    prune_trail(trail, hour_of(9), clock=HandClock().clock)
    first = list_segments(FolderDisk(trail.folder))[0]
    path = trail.folder / first.name
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[1:]))
    finding = verify(trail).finding

    assert finding is not None
    assert (finding.reason, finding.record) in {(Reason.PRUNED_UNSAID, 9), (Reason.MISSING, 9), (Reason.MISSING, 10)}

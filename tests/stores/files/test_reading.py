"""Reading a trail: filters, following it while it is written, progress."""

from __future__ import annotations

from pathlib import Path

import pytest

from strictwire.stores.files.config import TrailConfig, open_writer
from strictwire.stores.files.reading import follow_trail, read_trail
from strictwire.stores.records import Filters
from tests.stores.trails import body, hour_of, seqs, trail_in


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (Filters(), list(range(20))),
        (Filters(since=hour_of(17)), [17, 18, 19]),
        (Filters(until=hour_of(2)), [0, 1]),
        (Filters(tool="tool0", principal="alice"), [3, 9, 15]),
        (Filters(code="NONE"), []),
        (Filters(session="s"), []),
        (Filters(kind="call", since=hour_of(5), until=hour_of(6)), [5]),
    ],
)
def test_records_are_found_by_what_they_say(trail: TrailConfig, filters: Filters, expected: list[int]):
    assert seqs(trail, filters) == expected


def test_a_trail_is_followed_while_it_is_written_also_into_new_files(trail: TrailConfig):
    log = open_writer(trail)
    steps = iter([lambda: log.append([body("new 1")]), lambda: log.append([body("new 2"), body("new 3")]), None])

    def wait() -> bool:
        step = next(steps)
        if step is not None:
            step()
        return step is not None

    seen = [stored.record["call_id"] for stored in follow_trail(trail.folder, wait=wait)]
    log.close()

    assert seen == ["new 1", "new 2", "new 3"]


def test_a_trail_is_followed_from_before_it_exists(tmp_path: Path):
    trail = trail_in(tmp_path)
    trail.folder.mkdir()
    steps = iter([True, False])

    def wait() -> bool:
        log = open_writer(trail)
        log.append([body("first")])
        log.close()
        return next(steps)

    assert [stored.record["call_id"] for stored in follow_trail(trail.folder, wait=wait)] == ["first"]


def test_progress_is_reported_up_to_the_last_byte(trail: TrailConfig):
    told: list[tuple[int, int]] = []
    list(read_trail(trail.folder, progress=lambda done, total: told.append((done, total))))

    assert told[-1][0] == told[-1][1] > 0

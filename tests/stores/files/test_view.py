"""A trail for those who only read: backwards, in stretches, proved; through every file it was rotated into."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from strictwire.audit.merkle import fold_inclusion, leaf_hash
from strictwire.audit.verify import Reason
from strictwire.fault.failure import Refused
from strictwire.stores.files.config import TrailConfig, open_writer
from strictwire.stores.files.view import FileTrailView
from tests.stores.trails import body, trail_in

COUNT = 60


@pytest.fixture(params=[1 << 40, 2_000], ids=["one file", "many files"])
def trail(tmp_path: Path, request: pytest.FixtureRequest) -> TrailConfig:
    trail = trail_in(tmp_path, rotate_bytes=request.param)
    log = open_writer(trail)
    for start in range(0, COUNT, 4):
        # Lines of very different lengths, so that no bisection is lucky.
        log.append([body(f"call {number} " + "x" * (number % 7 * 900)) for number in range(start, start + 4)])
        if start % 12 == 8:
            log.sign()
    log.close()
    return trail


def numbers(trail: TrailConfig, before: int | None = None) -> list[int]:
    return [json.loads(line)["seq"] for line in FileTrailView(trail).lines_back(before)]


def test_records_are_read_from_the_end_or_from_before_any_one_of_them(trail: TrailConfig) -> None:
    everything = list(range(COUNT))[::-1]

    assert numbers(trail) == everything
    assert all(numbers(trail, before) == everything[COUNT - before :] for before in range(COUNT + 1))


def test_a_line_that_is_not_finished_is_no_line(trail: TrailConfig) -> None:
    with (trail.folder / "audit-log.jsonl").open("ab") as file:
        file.write(b'{"seq":60,"prev":"')

    assert numbers(trail) == list(range(COUNT))[::-1]


def test_a_judgement_in_stretches_ends_where_one_of_the_whole_does(trail: TrailConfig) -> None:
    view = FileTrailView(trail)
    whole = view.judge(limit=1_000)
    judged, sizes = None, []
    while judged is None or not judged.is_whole:
        judged = view.judge(judged, limit=7)
        sizes.append(judged.size)

    assert (whole.size, whole.signed, whole.is_whole, whole.finding) == (COUNT, COUNT, True, None)
    assert (judged.size, judged.root, judged.finding) == (whole.size, whole.root, None)
    assert sizes == [*range(7, COUNT, 7), COUNT]


def test_records_are_proved_by_a_checkpoint_that_is_signed_when_none_covers_them(trail: TrailConfig) -> None:
    log = open_writer(trail)
    log.append([body("new")])
    log.close()
    view = FileTrailView(trail)

    proven = view.prove([0, 33, COUNT])

    assert proven.checkpoint.size == COUNT + 1
    for proof in proven.proofs:
        root = fold_inclusion(leaf_hash(proof.line), index=proof.index, size=COUNT + 1, proof=proof.hashes)
        assert (root, json.loads(proof.line)["seq"]) == (proven.checkpoint.root, proof.index)


def files(trail: TrailConfig) -> list[Path]:
    return sorted(trail.folder.glob("audit-log*.jsonl"))


def change(trail: TrailConfig, record: int, edit: Callable[[bytes], bytes]) -> None:
    for path in files(trail):
        lines = path.read_bytes().splitlines(keepends=True)
        path.write_bytes(b"".join(edit(line) if line.startswith(b'{"seq":%d,' % record) else line for line in lines))


def test_a_record_that_was_edited_is_found_and_cannot_be_proved(trail: TrailConfig) -> None:
    change(trail, 23, lambda line: line.replace(b"alice", b"mallo"))
    view = FileTrailView(trail)

    finding = view.judge(limit=1_000).finding
    assert finding is not None
    assert finding.record <= 23 <= finding.last + 1
    with pytest.raises(Refused) as caught:
        view.prove([22, 23])
    assert caught.value.failure.cause == {"code": "AUDIT_LOG_FAILED", "reason": "damaged", "record": 23}


def test_what_was_judged_before_and_is_gone_now_is_told(trail: TrailConfig) -> None:
    view = FileTrailView(trail)
    judged = view.judge(limit=50)
    (trail.folder / "audit-log.hashes").write_bytes(b"")

    finding = view.judge(judged, limit=50).finding

    assert finding is not None
    assert (finding.reason, finding.last) == (Reason.FORGED, 49)


def test_a_stretch_that_stops_early_says_nothing_of_an_end_it_has_not_seen(trail: TrailConfig) -> None:
    assert FileTrailView(trail).judge(limit=12).finding is None


def test_records_that_were_cut_off_the_end_are_missed(trail: TrailConfig) -> None:
    last = trail.folder / "audit-log.jsonl"
    if not last.read_bytes():
        last = files(trail)[-2]
    last.write_bytes(b"".join(last.read_bytes().splitlines(keepends=True)[:-1]))

    finding = FileTrailView(trail).judge(limit=1_000).finding

    assert finding is not None
    assert finding.reason is Reason.TRUNCATED


@pytest.mark.parametrize(
    "use", [lambda view: list(view.lines_back()), lambda view: view.judge(limit=1), lambda view: view.key]
)
def test_a_trail_that_is_not_there_is_a_failure_of_the_audit_family(
    tmp_path: Path, use: Callable[[FileTrailView], object]
) -> None:
    with pytest.raises(Refused) as caught:
        use(FileTrailView(trail_in(tmp_path)))
    assert (caught.value.failure.code, caught.value.failure.details) == ("AUDIT_LOG_FAILED", {"reason": "folder_missing"})


WITHOUT_RIGHTS = """
import os, sys
from pathlib import Path
from strictwire.fault.failure import Refused
from strictwire.stores.files.config import TrailConfig
from strictwire.stores.files.view import FileTrailView
view = FileTrailView(TrailConfig(folder=Path(sys.argv[1]), key_path=Path(sys.argv[2])))
if os.geteuid() == 0:
    os.setgroups([])
    os.setresgid(65534, 65534, 65534)
    os.setresuid(65534, 65534, 65534)
try:
    list(view.lines_back())
except Refused as exc:
    print(exc.failure.code, exc.failure.details["reason"])
"""


def test_a_trail_that_may_not_be_read_is_told_as_such_without_root_rights(tmp_path: Path) -> None:
    trail = trail_in(tmp_path)
    open_writer(trail).close()
    trail.folder.chmod(0)
    try:
        command = [sys.executable, "-c", WITHOUT_RIGHTS, str(trail.folder), str(trail.key_path)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    finally:
        trail.folder.chmod(0o700)

    assert done.stdout == "AUDIT_LOG_FAILED denied\n"

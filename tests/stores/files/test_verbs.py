"""Reading, proving, pruning, exporting and replaying a trail."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path

import pytest

from strictwire.audit.event import Call, End, Flood, Intent, Origin, Outcome, Values, render_body
from strictwire.audit.proof import ProofRefused, check_consistency, check_inclusion
from strictwire.audit.verify import Reason, Verdict
from strictwire.canon.digest import digest
from strictwire.stores import replay as replaying
from strictwire.stores.export import COLUMNS, EXPORTERS
from strictwire.stores.files.config import TrailConfig, open_writer
from strictwire.stores.files.disk import FolderDisk
from strictwire.stores.files.keys import public_path, read_public_key
from strictwire.stores.files.layout import list_segments
from strictwire.stores.files.proofs import NoProof, list_checkpoints, prove_growth, prove_record
from strictwire.stores.files.prune import Pruned, prune_trail
from strictwire.stores.files.reading import Filters, count_trail, follow_trail, read_trail
from strictwire.stores.files.verify import verify_trail
from strictwire.stores.replay import Answer, Recorded, Replayed, replay_calls
from tests.stores.trails import HandClock, body, call, trail_in


def _hour(number: int) -> str:
    return f"2026-01-01T{number:02d}:00:00.000Z"


@pytest.fixture(params=[1 << 40, 1_500], ids=["one file", "several files"])
def trail(request: pytest.FixtureRequest, tmp_path: Path) -> TrailConfig:
    """Twenty calls, one an hour, signed for after each five."""
    trail = trail_in(tmp_path, rotate_bytes=request.param)
    log = open_writer(trail)
    for number in range(20):
        who = "alice" if number % 2 else "bob"
        event = call(f"call {number}", _hour(number), principal=who, tool_name=f"tool{number % 3}")
        log.append([render_body(event)])
        if number % 5 == 4:
            log.sign()
    log.close()
    return trail


def _verify(trail: TrailConfig) -> Verdict:
    return verify_trail(trail.folder, read_public_key(trail.key_path), anchor=trail.anchor_path)


def _ids(trail: TrailConfig, filters: Filters) -> list[int]:
    return [entry.record["seq"] for entry in read_trail(trail.folder, filters)]


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (Filters(), list(range(20))),
        (Filters(since=_hour(17)), [17, 18, 19]),
        (Filters(until=_hour(2)), [0, 1]),
        (Filters(tool="tool0", principal="alice"), [3, 9, 15]),
        (Filters(code="NONE"), []),
        (Filters(session="s"), []),
        (Filters(kind="call", since=_hour(5), until=_hour(6)), [5]),
    ],
)
def test_records_are_found_by_what_they_say(trail: TrailConfig, filters: Filters, expected: list[int]):
    assert _ids(trail, filters) == expected


def test_a_trail_is_followed_while_it_is_written_also_into_new_files(trail: TrailConfig):
    log = open_writer(trail)
    steps = iter([lambda: log.append([body("new 1")]), lambda: log.append([body("new 2"), body("new 3")]), None])

    def wait() -> bool:
        step = next(steps)
        if step is not None:
            step()
        return step is not None

    seen = [entry.record["call_id"] for entry in follow_trail(trail.folder, wait=wait)]
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

    assert [entry.record["call_id"] for entry in follow_trail(trail.folder, wait=wait)] == ["first"]


def test_a_trail_is_counted(tmp_path: Path):
    trail = trail_in(tmp_path)
    log = open_writer(trail)
    origin = Origin(tool_name="write", principal="alice", call_id="1")
    failed = End(duration_us=70, error_code="TIMEOUT")
    log.append(
        [
            render_body(event)
            for event in (
                Intent(timestamp="T1", origin=origin),
                Outcome(timestamp="T2", origin=origin, end=failed),
                Intent(timestamp="T3", origin=Origin(tool_name="write", principal="alice", call_id="2")),
                Flood(timestamp="T4", since="T3", counts={"not_json": 7}),
            )
        ]
    )
    log.close()
    stats = count_trail(trail.folder)

    assert (stats.records, stats.first, stats.last, stats.malformed) == (4, "T1", "T4", 7)
    assert (stats.open_intents, stats.slowest_us, stats.codes) == (1, 70, {"TIMEOUT": 1})
    assert (stats.kinds, stats.tools) == ({"intent": 2, "outcome": 1, "flood": 1}, {"write": 3})


@pytest.mark.parametrize("index", [0, 7, 19])
def test_a_record_is_proved_with_only_the_public_key(trail: TrailConfig, index: int):
    key = read_public_key(public_path(trail.key_path))
    proof = prove_record(trail.folder, key, index)
    proved = check_inclusion(proof, key)

    assert (proved.index, proved.checkpoint.size) == (index, 20)
    assert proved.line == list(read_trail(trail.folder))[index].line


@pytest.mark.parametrize("forge", [b"alice", b"index 7", b"\n20\n"])
def test_a_forged_proof_proves_nothing(trail: TrailConfig, forge: bytes):
    key = read_public_key(trail.key_path)
    proof = prove_record(trail.folder, key, 7)
    head, _, rest = proof.partition(b"\nindex")
    changes = {
        b"alice": proof.replace(head[-40:-36], b"AAAA"),
        b"index 7": proof.replace(b"index 7", b"index 6"),
        b"\n20\n": proof.replace(b"\n20\n", b"\n19\n"),
    }
    assert rest
    with pytest.raises(ProofRefused):
        check_inclusion(changes[forge], key)


@pytest.mark.parametrize("junk", [b"", b"x\n\ny", b"c2sp.org/tlog-proof@v1\nextra !\nindex 0\n\n"])
def test_what_is_no_proof_is_refused(trail: TrailConfig, junk: bytes):
    key = read_public_key(trail.key_path)
    with pytest.raises(ProofRefused, match="malformed"):
        check_inclusion(junk, key)
    with pytest.raises(ProofRefused, match="malformed"):
        check_consistency(junk, key)


def test_a_record_without_a_checkpoint_has_no_proof_yet(trail: TrailConfig):
    log = open_writer(trail)
    log.append([body("new")])
    size = log._tail.records
    log.close()
    key = read_public_key(trail.key_path)
    signed = list_checkpoints(trail.folder, key)[-1]
    if signed < size:
        with pytest.raises(NoProof, match="not_signed_yet"):
            prove_record(trail.folder, key, size - 1)
    with pytest.raises(NoProof, match="not_signed_yet"):
        prove_record(trail.folder, key, size + 5)


def test_growth_between_checkpoints_is_proved(trail: TrailConfig):
    key = read_public_key(trail.key_path)
    sizes = list_checkpoints(trail.folder, key)
    for old in sizes:
        proved = check_consistency(prove_growth(trail.folder, key, old=old), key)
        assert (proved.old.size, proved.new.size) == (old, 20)
    middle = check_consistency(prove_growth(trail.folder, key, old=sizes[0], new=sizes[1]), key)

    assert (middle.old.size, middle.new.size) == (sizes[0], sizes[1])
    with pytest.raises(NoProof, match="no_such_checkpoint"):
        prove_growth(trail.folder, key, old=999)


@pytest.mark.parametrize("hour", [0, 1, 5, 13, 19])
def test_pruning_removes_what_is_older_and_what_is_left_is_still_proved(trail: TrailConfig, hour: int):
    key = read_public_key(trail.key_path)
    pruned = prune_trail(trail, _hour(hour), clock=HandClock().clock)
    log = open_writer(trail)
    log.append([body("after")])
    log.sign()
    log.close()
    verdict = _verify(trail)
    left = _ids(trail, Filters(kind="call"))

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
    records = [entry.record for entry in read_trail(trail.folder)]

    assert pruned == Pruned(first=20, removed=20)
    assert [(record["kind"], record["first"], record["before"]) for record in records] == [("prune", 20, "2027")]
    assert _verify(trail).ok


def test_pruning_twice_and_a_writer_that_was_open_all_the_time(trail: TrailConfig):
    log = open_writer(trail)
    log.append([body("before")])
    prune_trail(trail, _hour(3), clock=HandClock().clock)
    log.append([body("between")])
    prune_trail(trail, _hour(6), clock=HandClock().clock)
    log.append([body("after")])
    log.close()

    assert _verify(trail).ok
    assert _verify(trail).first == 6


def test_records_that_are_gone_without_a_prune_record_are_missed(trail: TrailConfig):
    prune_trail(trail, _hour(3), clock=HandClock().clock)
    prune_trail(trail, _hour(9), clock=HandClock().clock)
    first = list_segments(FolderDisk(trail.folder))[0]
    path = trail.folder / first.name
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[1:]))
    finding = _verify(trail).finding

    assert finding is not None
    assert (finding.reason, finding.record) in {(Reason.PRUNED_UNSAID, 9), (Reason.MISSING, 9), (Reason.MISSING, 10)}


def test_exact_lines_are_exported(trail: TrailConfig):
    target = io.BytesIO()
    count = EXPORTERS["jsonl"](read_trail(trail.folder), target)

    assert count == 20
    assert target.getvalue() == b"".join(entry.line + b"\n" for entry in read_trail(trail.folder))


def test_csv_has_a_row_a_record_and_no_formulas(tmp_path: Path):
    trail = trail_in(tmp_path)
    log = open_writer(trail)
    evil = call("=cmd()", principal='a,"b"\n')
    log.append([render_body(evil), render_body(Flood(timestamp="T", since="S", counts={"a": 1}))])
    log.close()
    target = io.BytesIO()
    EXPORTERS["csv"](read_trail(trail.folder), target)
    rows = list(csv.DictReader(io.StringIO(target.getvalue().decode(), newline="")))

    assert list(rows[0]) == list(COLUMNS)
    assert (rows[0]["seq"], rows[0]["call_id"], rows[0]["principal"]) == ("0", "'=cmd()", 'a,"b"\n')
    assert rows[1]["more"] == '{"since":"S","counts":{"a":1}}'


def test_parquet_reads_back_with_types(trail: TrailConfig):
    parquet = pytest.importorskip("pyarrow.parquet")
    target = io.BytesIO()
    count = EXPORTERS["parquet"](read_trail(trail.folder), target)
    table = parquet.read_table(io.BytesIO(target.getvalue()))

    assert (count, table.num_rows, table.column_names) == (20, 20, list(COLUMNS))
    assert table.column("seq").to_pylist() == list(range(20))
    assert table.column("duration_us").to_pylist() == [5] * 20


def _recorded_call(name: str, arguments: dict[str, object], result: str) -> Call:
    origin = Origin(call_id=name, tool_name=name, args_digest=digest(arguments))
    return Call(timestamp="T", origin=origin, end=End(duration_us=1, result_digest=result), arguments=arguments)


async def test_a_replay_reports_every_answer_that_differs(tmp_path: Path):
    trail = trail_in(tmp_path, values=Values.STORED)
    log = open_writer(trail)
    events = [
        _recorded_call("steady", {"a": 1}, "sha256:1"),
        _recorded_call("drifting", {"a": 2}, "sha256:2"),
        _recorded_call("writing", {"a": 3}, "sha256:3"),
        _recorded_call("steady", {"password": "x"}, "sha256:4"),
    ]
    log.append([render_body(event, Values.STORED) for event in events])
    log.append([render_body(_recorded_call("steady", {"a": 5}, "sha256:5"))])
    log.close()
    sent: list[Recorded] = []

    async def reissue(recorded: Recorded) -> Answer:
        sent.append(recorded)
        return Answer(result_digest="sha256:1")

    report = [
        replayed
        async for replayed in replay_calls(
            read_trail(trail.folder), is_idempotent=lambda tool: tool != "writing", reissue=reissue
        )
    ]
    skipped, same, different = replaying.Verdict.SKIPPED, replaying.Verdict.SAME, replaying.Verdict.DIFFERENT
    one, two = Answer(result_digest="sha256:1"), Answer(result_digest="sha256:2")

    assert [recorded.arguments for recorded in sent] == [{"a": 1}, {"a": 2}]
    assert report == [
        Replayed(seq=0, tool_name="steady", verdict=same, recorded=one, answered=one),
        Replayed(seq=1, tool_name="drifting", verdict=different, recorded=two, answered=one),
        Replayed(seq=2, tool_name="writing", verdict=skipped, reason="not_idempotent"),
        Replayed(seq=3, tool_name="steady", verdict=skipped, reason="redacted"),
        Replayed(seq=4, tool_name="steady", verdict=skipped, reason="no_arguments"),
    ]


@pytest.mark.parametrize(
    "read",
    [
        lambda folder, tell: list(read_trail(folder, progress=tell)),
        lambda folder, tell: count_trail(folder, progress=tell),
    ],
)
def test_progress_is_told(trail: TrailConfig, read: Callable[..., object]):
    told: list[tuple[int, int]] = []
    read(trail.folder, lambda done, total: told.append((done, total)))

    assert told[-1][0] == told[-1][1] > 0

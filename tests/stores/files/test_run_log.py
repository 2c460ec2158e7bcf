"""Run logs as files: one a run, five kept, the link to the newest, and what happens when they cannot be written."""

from __future__ import annotations

import logging
import os
import re
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from strictwire.canon.json import parse_object
from strictwire.fault.failure import fail
from strictwire.pipeline.clock import FIXED_TIME, deterministic_clock
from strictwire.profiles.runlog import Ended, Ids, MemoryRunLog, NoRunLog, Received, RunLog, make_event
from strictwire.stores.files.run_log import FileRunLog
from tests.profiles.wires import validator

PLACE = Path("mcp_server/envelope_validation")


def event(number: int = 1, **metadata: Any) -> dict[str, Any]:
    return {"requestId": f"r{number}", "metadata": {"schemaVersion": "0.1.0", "deterministic": True, **metadata}}


def open_log(root: Path, **more: Any) -> FileRunLog:
    return FileRunLog(root, now=lambda: FIXED_TIME, **more)


def read(path: Path | None) -> list[dict[str, Any]]:
    assert path is not None
    return [parse_object(line) for line in path.read_bytes().splitlines()]


def names_in(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


def runs_in(root: Path) -> list[str]:
    return [name for name in names_in(root / PLACE) if name.endswith(".jsonl")]


@pytest.mark.clause("V11")
def test_a_run_has_one_file_in_the_folder_of_the_contract(tmp_path: Path) -> None:
    log = open_log(tmp_path / "runs")
    log.write(event(1))
    log.write(event(2))
    log.close()

    assert log.path == tmp_path / "runs" / PLACE / "000001.20260101T000000Z.jsonl"
    assert read(log.path) == [event(1), event(2)]


@pytest.mark.clause("V11")
def test_an_event_can_be_read_as_soon_as_it_is_written(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    log.write(event(1))

    assert read(log.path) == [event(1)]
    log.close()


@pytest.mark.clause("V11")
def test_the_last_five_ended_runs_are_kept_even_if_the_clock_stands_still(tmp_path: Path) -> None:
    for number in range(1, 9):
        log = open_log(tmp_path)
        log.write(event(number))
        log.close()

    # The eighth run was alive when the others were counted.
    assert runs_in(tmp_path) == [f"{number:06d}.20260101T000000Z.jsonl" for number in range(3, 9)]
    assert [read(tmp_path / PLACE / name) for name in runs_in(tmp_path)] == [[event(number)] for number in range(3, 9)]


@pytest.mark.clause("V11")
def test_the_file_of_a_living_process_is_never_removed(tmp_path: Path) -> None:
    """The process writes, seven runs begin and end beside it, and it writes again; then it is killed."""
    script = (
        "import sys, time; from pathlib import Path; from strictwire.stores.files.run_log import FileRunLog\n"
        "log = FileRunLog(Path(sys.argv[1]), now=time.time)\n"
        "for line in sys.stdin: log.write({'metadata': {}, 'line': line.strip()}); print(log.path, flush=True)\n"
    )
    command = [sys.executable, "-c", script, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        written = Path(_exchange(process, "one"))
        for _ in range(7):
            open_log(tmp_path).close()
        _exchange(process, "two")
        kept = [each["line"] for each in read(written)]
        process.kill()
        process.wait()
    for _ in range(6):
        open_log(tmp_path).close()

    assert kept == ["one", "two"]
    assert not written.exists()


def _exchange(process: subprocess.Popen[str], line: str) -> str:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{line}\n")
    process.stdin.flush()
    return process.stdout.readline().strip()


@pytest.mark.clause("V11")
def test_the_link_names_the_newest_run_and_moves_with_the_folder(tmp_path: Path) -> None:
    for number in range(1, 4):
        log = open_log(tmp_path / "runs")
        log.write(event(number))
        log.close()
    (tmp_path / "runs").rename(tmp_path / "moved")
    latest = tmp_path / "moved" / PLACE / ".latest"

    assert latest.is_symlink()
    assert latest.readlink() == Path("000003.20260101T000000Z.jsonl")
    assert read(latest) == [event(3)]
    assert names_in(latest.parent) == [".latest", *runs_in(tmp_path / "moved")]


@pytest.mark.clause("V11")
def test_the_link_is_there_at_every_moment_of_a_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    open_log(tmp_path).close()
    seen: list[bool] = []
    latest = tmp_path / PLACE / ".latest"
    for name in ("unlink", "symlink_to", "replace"):
        monkeypatch.setattr(Path, name, _watching(getattr(Path, name), lambda: seen.append(latest.exists())))

    open_log(tmp_path).close()

    assert len(seen) >= 6
    assert all(seen)


def _watching(method: Any, look: Any) -> Any:
    def watched(self: Path, *given: Any, **named: Any) -> Any:
        look()
        result = method(self, *given, **named)
        look()
        return result

    return watched


def test_what_else_is_in_the_folder_is_left_alone(tmp_path: Path) -> None:
    folder = tmp_path / PLACE
    folder.mkdir(parents=True)
    (folder / "notes.txt").write_text("mine")
    (folder / "000001.jsonl").write_text("mine")
    for _ in range(7):
        open_log(tmp_path).close()

    assert (folder / "notes.txt").read_text() == (folder / "000001.jsonl").read_text() == "mine"


def test_a_link_left_by_a_start_that_was_cut_off_does_no_harm(tmp_path: Path) -> None:
    folder = tmp_path / PLACE
    folder.mkdir(parents=True)
    (folder / ".latest.000001.20260101T000000Z.jsonl").symlink_to("nowhere")

    log = open_log(tmp_path)
    log.close()

    assert names_in(folder) == [".latest", "000001.20260101T000000Z.jsonl"]


def test_two_servers_in_one_folder_have_a_file_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second lists the folder before the first has made its file."""
    real, stale = os.listdir, count()
    open_log(tmp_path).close()
    monkeypatch.setattr(os, "listdir", lambda folder: [] if next(stale) == 0 else real(folder))

    second = open_log(tmp_path)
    second.close()

    assert second.path is not None
    assert second.path.name == "000002.20260101T000000Z.jsonl"


def test_nobody_else_may_read_it(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    log.close()

    assert log.path is not None
    assert log.path.stat().st_mode & 0o777 == 0o600


# What cannot be kept.


def test_a_folder_that_cannot_be_made_is_told_once_and_nothing_stops(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "runs").write_text("a file is in the way")

    log = open_log(tmp_path / "runs")
    for number in range(3):
        log.write(event(number))
    log.close()

    assert log.path is None
    assert [record.levelno for record in caplog.records] == [logging.WARNING]
    assert re.search("run log in .* cannot be opened: Not a directory; requests are served", caplog.messages[0])


@contextmanager
def file_size_limit(size: int) -> Iterator[None]:
    """The operating system refuses to let a file grow further, as a full disk would."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


def test_a_full_disk_is_told_once_and_what_was_lost_is_counted_in_the_next_event(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    log = open_log(tmp_path)
    log.write(event(1))
    assert log.path is not None
    size = log.path.stat().st_size
    with file_size_limit(size + 20):
        log.write(event(2))
        log.write(event(3))
        torn = log.path.stat().st_size - size
    log.write(event(4))
    log.write(event(5))
    log.close()

    assert torn == 0
    assert read(log.path) == [event(1), event(4, lost=2), event(5)]
    assert len(caplog.records) == 1
    assert "cannot be written: File too large" in caplog.messages[0]


def test_a_file_has_a_bound(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    log = open_log(tmp_path, max_bytes=300)
    for number in range(1, 100):
        log.write(event(number))
    log.close()

    assert log.path is not None
    assert 150 < log.path.stat().st_size <= 300
    assert len(caplog.records) == 1
    assert "has reached 300 bytes" in caplog.messages[0]


def test_writing_after_the_end_does_nothing(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    log.close()
    log.write(event(1))
    log.close()

    assert read(log.path) == []


# The events themselves, and the twin in memory.

HEARD = Received(transport="http", route="/rpc/envelope", size=10, payload={}, request_id="r", method="tools/list")
ENDED = Ended(timestamp="2026-01-01T00:00:00.000Z", duration_ms=1.23456, size=20)


@pytest.mark.clause("V12")
@pytest.mark.clause("V13")
@pytest.mark.parametrize("ids", list(Ids))
def test_an_event_has_the_fields_of_the_contract(ids: Ids) -> None:
    made = make_event(HEARD, ENDED, ids=ids, next_id=lambda: "fresh")

    validator("run-log-event-1").validate(made)
    assert made | {"traceId": "", "spanId": ""} == {
        "ts": "2026-01-01T00:00:00.000Z",
        "requestId": "r",
        "traceId": "",
        "spanId": "",
        "transport": "http",
        "route": "/rpc/envelope",
        "method": "tools/list",
        "status": "ok",
        "durationMs": 1.235,
        "error": None,
        "metadata": {
            "schemaVersion": "0.1.0",
            "deterministic": ids is Ids.DETERMINISTIC,
            "toolId": None,
            "inputBytes": 10,
            "outputBytes": 20,
        },
    }


def test_without_deterministic_ids_every_id_is_fresh() -> None:
    clock = deterministic_clock()
    unread = Received(transport="stdio", route="/rpc/envelope", size=1, payload={"digest": "sha256:0"})

    first, second = (make_event(unread, ENDED, ids=Ids.FRESH, next_id=clock.next_id) for _ in range(2))

    ids = [each[name] for each in (first, second) for name in ("requestId", "traceId", "spanId")]
    assert len(set(ids)) == 6


def test_a_callers_own_words_are_bounded_in_an_event() -> None:
    long = Received(
        transport="stdio",
        route="/rpc/envelope",
        size=1,
        payload={},
        request_id="i" * 9999,
        method="m" * 9999,
        tool="t" * 9999,
    )
    failed = Ended(timestamp="2026-01-01T00:00:00.000Z", duration_ms=0, size=1, failure=fail("UNKNOWN_TOOL"))

    made = make_event(long, failed, ids=Ids.DETERMINISTIC, next_id=lambda: "fresh")

    validator("run-log-event-1").validate(made)
    assert len(str(made)) < 2000


def test_the_twins_keep_events_in_a_list_or_not_at_all() -> None:
    kept = MemoryRunLog()
    logs: list[RunLog] = [kept, NoRunLog()]
    for log in logs:
        log.write(event(1))

    assert kept.events == [event(1)]

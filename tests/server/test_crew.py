"""Several processes behind one address: shared work, sessions that stay where they were opened, replacements."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from strictwire.canon.json import parse_object
from strictwire.server.crew import MAX_DEATHS, Crew
from tests.fixtures.live import HttpProcess, command, legacy, modern, modern_headers, request, run, serve_http, wait_for

pytestmark = pytest.mark.slow

WORKERS = 3


@pytest.fixture
def crew(tmp_path: Path) -> Iterator[HttpProcess]:
    env = {
        "STRICTWIRE_AUDIT_MODE": "batched",
        "STRICTWIRE_AUDIT_FOLDER": str(tmp_path / "audit"),
        "STRICTWIRE_AUDIT_KEY": str(tmp_path / "keys" / "key"),
    }
    with serve_http("hard:server", "--workers", str(WORKERS), env=env) as process:
        wait_for(lambda: len(_workers(process)) == WORKERS)
        yield process


def _workers(process: HttpProcess) -> set[int]:
    children = Path(f"/proc/{process.process.pid}/task/{process.process.pid}/children").read_text()
    return set(map(int, children.split()))


def _until(holds: Callable[[], bool], process: HttpProcess) -> None:
    for number in range(2000):
        if holds():
            return
        process.ask(modern(number, "server/discover"))
    raise AssertionError("it never came to be")


def test_every_worker_answers_and_keeps_a_trail_that_holds(crew: HttpProcess, tmp_path: Path) -> None:
    sums = [
        parse_object(crew.ask(modern(n, "tools/call", {"name": "add", "arguments": {"a": n, "b": 1}})).body)
        for n in range(60)
    ]

    assert [each["result"]["structuredContent"]["result"] for each in sums] == [n + 1 for n in range(60)]
    crew.process.send_signal(signal.SIGTERM)
    assert crew.process.wait(20) == 0
    trails = sorted((tmp_path / "audit").glob("worker-*/audit-log.jsonl"))
    assert len(trails) == WORKERS
    assert sum(len(trail.read_bytes().splitlines()) for trail in trails) == 60
    strictwire = command("")[0]
    verified = run(
        [strictwire, "audit", "verify", "--folder", str(tmp_path / "audit"), "--key", str(tmp_path / "keys" / "key")]
    )
    assert (verified.returncode, verified.stdout.count(b": ok: ")) == (0, WORKERS)
    trails[1].write_bytes(trails[1].read_bytes().replace(b'"add"', b'"sub"', 1))
    verified = run(
        [strictwire, "audit", "verify", "--folder", str(tmp_path / "audit"), "--key", str(tmp_path / "keys" / "key")]
    )
    assert (verified.returncode, verified.stdout.count(b"worker-1: BROKEN")) == (100, 1)


def test_a_pack_that_needs_a_process_to_itself_refuses_to_be_shared() -> None:
    refused = run([command("")[0], "serve", "--pack", "workspace", "--workers", "2", "--http", "127.0.0.1:0"])

    assert refused.returncode == 1
    assert b"--workers 1" in refused.stderr


def test_a_session_is_found_from_every_connection(crew: HttpProcess) -> None:
    sessions = [crew.open_session() for _ in range(8)]
    while len({headers["Mcp-Session-Id"].partition(".")[0] for headers in sessions}) < WORKERS:
        sessions.append(crew.open_session())

    for n, headers in enumerate(sessions * 4):
        with crew.connect() as connection:
            for again in range(3):
                answer = connection.post(
                    legacy(again, "tools/call", {"name": "add", "arguments": {"a": n, "b": again}}), headers
                )
                assert parse_object(answer.body)["result"]["structuredContent"] == {"result": n + again}


def test_a_session_nobody_has_is_unknown(crew: HttpProcess) -> None:
    for number in ("0.nobody", "2.nobody", "9.nobody", "x", "-1.a", "³.a"):
        answer = crew.post(legacy(1, "ping"), {"Mcp-Session-Id": number.encode("utf-8").decode("latin-1")})
        assert answer.status == 404


def test_a_large_request_moves_with_its_connection(crew: HttpProcess) -> None:
    for headers in [crew.open_session() for _ in range(6)]:
        text = "x" * 100_000
        answer = crew.post(legacy(1, "tools/call", {"name": "say", "arguments": {"text": text}}), headers)
        assert parse_object(answer.body)["result"]["content"] == [{"type": "text", "text": text}]


def test_requests_that_came_together_move_together(crew: HttpProcess) -> None:
    for headers in [crew.open_session() for _ in range(6)]:
        calls = [legacy(n, "tools/call", {"name": "add", "arguments": {"a": n, "b": 1}}) for n in range(3)]
        with crew.connect() as connection:
            connection.write(b"".join(request(call, headers, port=crew.port) for call in calls))
            sums = [parse_object(connection.answer().body)["result"]["structuredContent"]["result"] for _ in calls]
        assert sums == [1, 2, 3]


def test_an_answer_that_is_about_to_leave_is_sent_before_its_connection_moves(crew: HttpProcess) -> None:
    first = modern(1, "tools/call", {"name": "add", "arguments": {"a": 1, "b": 1}})
    second = legacy(2, "tools/call", {"name": "add", "arguments": {"a": 2, "b": 2}})
    sessions = [crew.open_session() for _ in range(6)]
    with ExitStack() as stack:
        for _ in range(12):
            stack.enter_context(crew.connect())
        for headers in sessions * 2:
            with crew.connect() as connection:
                connection.write(
                    request(first, modern_headers(first), port=crew.port) + request(second, headers, port=crew.port)
                )
                sums = [parse_object(connection.answer().body)["result"]["structuredContent"] for _ in range(2)]
            assert sums == [{"result": 2}, {"result": 4}]


def test_a_body_that_was_announced_moves_with_its_connection(crew: HttpProcess) -> None:
    call = legacy(1, "tools/call", {"name": "add", "arguments": {"a": 1, "b": 1}})
    for headers in [crew.open_session() for _ in range(6)]:
        with crew.connect() as connection:
            connection.write(request(call, {**headers, "Expect": "100-continue"}, port=crew.port))
            answer = connection.answer()
        assert parse_object(answer.body)["result"]["structuredContent"] == {"result": 2}


def test_a_worker_that_dies_is_replaced(crew: HttpProcess) -> None:
    before = _workers(crew)
    os.kill(min(before), signal.SIGKILL)

    _until(lambda: len(_workers(crew)) == WORKERS and min(before) not in _workers(crew), crew)

    assert crew.ask(modern(1, "server/discover")).status == 200


def test_the_whole_crew_ends_on_sigterm(crew: HttpProcess) -> None:
    workers = _workers(crew)
    crew.process.send_signal(signal.SIGTERM)

    assert crew.process.wait(20) == 0
    assert not any(Path(f"/proc/{pid}").exists() for pid in workers)


def test_a_second_crew_does_not_join_the_first_by_accident(crew: HttpProcess) -> None:
    second = run(command("hard:server", "--workers", "2", "--http", f"127.0.0.1:{crew.port}"))

    assert second.returncode == 1
    assert b"cannot listen" in second.stderr


def test_workers_do_not_outlive_the_process_that_looks_after_them(crew: HttpProcess) -> None:
    workers = _workers(crew)
    crew.process.kill()

    wait_for(lambda: not any(Path(f"/proc/{pid}").exists() for pid in workers))


def test_a_worker_that_cannot_start_ends_all() -> None:
    assert _crew_of(lambda _number: 1) == 1


def test_a_worker_that_dies_at_once_each_time_is_given_up(tmp_path: Path) -> None:
    def die(_number: int) -> int:
        with (tmp_path / "deaths").open("ab") as file:
            file.write(b".")
        os.kill(os.getpid(), signal.SIGKILL)
        return 0

    assert _crew_of(die) == 1
    assert len((tmp_path / "deaths").read_bytes()) >= MAX_DEATHS


def _crew_of(work: Callable[[int], int]) -> int:
    """Run in a process of its own: the signal handlers are its own too."""
    pid = os.fork()
    if not pid:
        code = 99
        try:
            code = Crew(1, work, now=lambda: 0.0).run()
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

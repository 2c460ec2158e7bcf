"""Worker processes behind one address: distribution, sessions that stay in their worker, replacement of dead workers."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from strictwire.canon.json import parse_object
from strictwire.server.workers import MAX_DEATHS, Supervisor
from tests.fixtures.live import HttpProcess, command, legacy, modern, modern_headers, request, run, serve_http, wait_for

pytestmark = pytest.mark.slow

WORKERS = 3


@pytest.fixture
def server(tmp_path: Path) -> Iterator[HttpProcess]:
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
    raise AssertionError("the condition was never met")


def test_every_worker_answers_and_keeps_an_audit_trail_that_verifies(server: HttpProcess, tmp_path: Path) -> None:
    sums = [
        parse_object(server.ask(modern(n, "tools/call", {"name": "add", "arguments": {"a": n, "b": 1}})).body)
        for n in range(60)
    ]

    assert [each["result"]["structuredContent"]["result"] for each in sums] == [n + 1 for n in range(60)]
    server.process.send_signal(signal.SIGTERM)
    assert server.process.wait(20) == 0
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


def test_a_pack_that_needs_a_single_process_refuses_several_workers() -> None:
    refused = run([command("")[0], "serve", "--pack", "workspace", "--workers", "2", "--http", "127.0.0.1:0"])

    assert refused.returncode == 1
    assert b"--workers 1" in refused.stderr
    # Nothing listens, so nothing is announced.
    assert b"strictwire serves" not in refused.stderr


def test_a_session_can_be_used_from_every_connection(server: HttpProcess) -> None:
    sessions = [server.open_session() for _ in range(8)]
    while len({headers["Mcp-Session-Id"].partition(".")[0] for headers in sessions}) < WORKERS:
        sessions.append(server.open_session())

    for n, headers in enumerate(sessions * 4):
        with server.connect() as connection:
            for again in range(3):
                answer = connection.post(
                    legacy(again, "tools/call", {"name": "add", "arguments": {"a": n, "b": again}}), headers
                )
                assert parse_object(answer.body)["result"]["structuredContent"] == {"result": n + again}


def test_a_task_can_be_used_from_every_connection() -> None:
    able = {"io.modelcontextprotocol/clientCapabilities": {"extensions": {"io.modelcontextprotocol/tasks": {}}}}
    call = modern(1, "tools/call", {"name": "slow_compute", "arguments": {"seconds": 60, "label": "x"}}, **able)
    ids: list[str] = []
    with serve_http("everything:server", "--workers", str(WORKERS)) as server:
        while len({each.partition(".")[0] for each in ids}) < WORKERS:
            ids.append(parse_object(server.ask(call).body)["result"]["taskId"])
        seen = [parse_object(server.ask(modern(2, "tasks/get", {"taskId": each}, **able)).body) for each in ids * 2]
        foreign = [server.ask(modern(3, "tasks/get", {"taskId": each}, **able)) for each in ("0.none", "9.none", "x")]

    assert [each["result"]["status"] for each in seen] == ["working"] * len(seen)
    assert [(each.status, each.json()["error"]["data"]["code"]) for each in foreign] == [(400, "TASK_UNKNOWN")] * 3


def test_a_session_that_no_worker_has_is_unknown(server: HttpProcess) -> None:
    for session_id in ("0.none", "2.none", "9.none", "x", "-1.a", "³.a"):
        answer = server.post(legacy(1, "ping"), {"Mcp-Session-Id": session_id.encode("utf-8").decode("latin-1")})
        assert answer.status == 404


def test_a_large_request_is_handed_off_with_its_connection(server: HttpProcess) -> None:
    for headers in [server.open_session() for _ in range(6)]:
        text = "x" * 100_000
        answer = server.post(legacy(1, "tools/call", {"name": "say", "arguments": {"text": text}}), headers)
        assert parse_object(answer.body)["result"]["content"] == [{"type": "text", "text": text}]


def test_pipelined_requests_are_handed_off_together(server: HttpProcess) -> None:
    for headers in [server.open_session() for _ in range(6)]:
        calls = [legacy(n, "tools/call", {"name": "add", "arguments": {"a": n, "b": 1}}) for n in range(3)]
        with server.connect() as connection:
            connection.write(b"".join(request(call, headers, port=server.port) for call in calls))
            sums = [parse_object(connection.answer().body)["result"]["structuredContent"]["result"] for _ in calls]
        assert sums == [1, 2, 3]


def test_a_pending_response_is_sent_before_its_connection_is_handed_off(server: HttpProcess) -> None:
    first = modern(1, "tools/call", {"name": "add", "arguments": {"a": 1, "b": 1}})
    second = legacy(2, "tools/call", {"name": "add", "arguments": {"a": 2, "b": 2}})
    sessions = [server.open_session() for _ in range(6)]
    with ExitStack() as stack:
        for _ in range(12):
            stack.enter_context(server.connect())
        for headers in sessions * 2:
            with server.connect() as connection:
                connection.write(
                    request(first, modern_headers(first), port=server.port) + request(second, headers, port=server.port)
                )
                sums = [parse_object(connection.answer().body)["result"]["structuredContent"] for _ in range(2)]
            assert sums == [{"result": 2}, {"result": 4}]


def test_a_request_with_expect_100_continue_is_handed_off_with_its_connection(server: HttpProcess) -> None:
    call = legacy(1, "tools/call", {"name": "add", "arguments": {"a": 1, "b": 1}})
    for headers in [server.open_session() for _ in range(6)]:
        with server.connect() as connection:
            connection.write(request(call, {**headers, "Expect": "100-continue"}, port=server.port))
            answer = connection.answer()
        assert parse_object(answer.body)["result"]["structuredContent"] == {"result": 2}


def test_a_worker_that_dies_is_replaced(server: HttpProcess) -> None:
    before = _workers(server)
    os.kill(min(before), signal.SIGKILL)

    _until(lambda: len(_workers(server)) == WORKERS and min(before) not in _workers(server), server)

    assert server.ask(modern(1, "server/discover")).status == 200


def test_sigterm_stops_all_workers(server: HttpProcess) -> None:
    workers = _workers(server)
    server.process.send_signal(signal.SIGTERM)

    assert server.process.wait(20) == 0
    assert not any(Path(f"/proc/{pid}").exists() for pid in workers)


def test_a_second_server_on_the_same_port_is_refused(server: HttpProcess) -> None:
    second = run(command("hard:server", "--workers", "2", "--http", f"127.0.0.1:{server.port}"))

    assert second.returncode == 1
    assert b"cannot listen" in second.stderr


def test_workers_do_not_outlive_the_supervisor(server: HttpProcess) -> None:
    workers = _workers(server)
    server.process.kill()

    wait_for(lambda: not any(Path(f"/proc/{pid}").exists() for pid in workers))


def test_a_worker_that_cannot_start_stops_all_workers() -> None:
    assert _supervise(lambda _number: 1) == 1


def test_the_supervisor_gives_up_on_workers_that_keep_dying(tmp_path: Path) -> None:
    def die(_number: int) -> int:
        with (tmp_path / "deaths").open("ab") as file:
            file.write(b".")
        os.kill(os.getpid(), signal.SIGKILL)
        return 0

    assert _supervise(die) == 1
    assert len((tmp_path / "deaths").read_bytes()) >= MAX_DEATHS


def _supervise(work: Callable[[int], int]) -> int:
    """Run a supervisor in a process of its own, because it sets signal handlers."""
    pid = os.fork()
    if not pid:
        code = 99
        try:
            code = Supervisor(1, work, now=lambda: 0.0).run()
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

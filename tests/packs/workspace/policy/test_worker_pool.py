"""The policy worker pool: every content gets an answer in time, and content that was not checked is never accepted."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.packs.workspace.harness import BUILDER, PLANNER, open_harness, run
from tests.packs.workspace.policy_cases import BAD, BAD_CHANGES, GOOD, GOOD_CHANGES

from strictwire.canon.json import JsonObject, parse_object
from strictwire.fault.failure import Failure, Refused
from strictwire.packs.workspace.pack import WorkspacePack
from strictwire.packs.workspace.path_locks import WAIT_SECONDS, WAITERS
from strictwire.packs.workspace.policy import worker, worker_process
from strictwire.packs.workspace.policy.languages import LANGUAGES, maybe_language
from strictwire.packs.workspace.policy.policy import MAX_CHECKED, Policy
from strictwire.packs.workspace.policy.rule import Severity
from strictwire.packs.workspace.policy.rules import RULES
from strictwire.packs.workspace.policy.worker import Draft
from strictwire.packs.workspace.policy.worker_pool import PoolLimits, WorkerPool
from strictwire.packs.workspace.preflight import SECONDS
from strictwire.settings.model import ServerSettings

SCHEMAS = Path(__file__).parents[4] / "schemas" / "tools"

ARROWS = b"-> " * 10_000
HOSTILE = {
    "a.py": b"(" * 200_000,
    "a.js": ARROWS,
    "a.ts": ARROWS,
    "a.tsx": ARROWS,
    "a.rs": b'r#"' * 60_000,
    "a.go": ARROWS,
    "a.java": b"a<b<" * 8_000,
    "a.c": b"{" * 200_000,
    "a.cpp": b"{" * 200_000,
    "a.txt": b"-----BEGIN PRIVATE KEY-----" + b"\n" * 400_000,
}
"""Content that keeps a parser or a regular expression busy for minutes, or exhausts the memory."""

SLOW = Draft(path="a.py", old=None, new=b"lambda:" * 5_000)
"""Content that takes longer than ordinary code, but ends."""

QUICK = PoolLimits(seconds=0.3, max_seconds=0.3)
PATIENT = PoolLimits(seconds=30.0, max_seconds=30.0)

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


@contextmanager
def worker_pool(limits: PoolLimits | None = None, severities: Mapping[str, Severity] | None = None) -> Iterator[WorkerPool]:
    opened = WorkerPool(severities or {}, limits)
    try:
        yield opened
    finally:
        opened.close()


def draft(path: str = "a.py", new: bytes = b"x = 1\n", old: bytes | None = None) -> Draft:
    return Draft(path=path, old=old, new=new)


def refusal(pool: WorkerPool, *drafts: Draft) -> Failure:
    with pytest.raises(Refused) as caught:
        pool.check(*drafts)
    return caught.value.failure


def told(failure: Failure) -> tuple[str, Any]:
    return failure.code, failure.details["reason"]


def idle_process(pool: WorkerPool) -> int:
    """Return the pid of the worker that the last change used."""
    return pool._idle[-1].process.pid


def busy_process(pool: WorkerPool) -> int:
    """Wait for a busy worker and return its pid."""
    until = time.monotonic() + 10
    while not pool._busy:
        assert time.monotonic() < until
    return pool._busy[0].process.pid


def has_ended(handle: int, seconds: float) -> bool:
    """Return whether the process with this pidfd ends in this time."""
    waiting = select.poll()
    waiting.register(handle, select.POLLIN)
    return bool(waiting.poll(seconds * 1000))


def test_a_worker_returns_the_verdict_of_the_policy() -> None:
    everything = {rule.id: Severity.WARNING for rule in RULES}
    policy = Policy(severities=everything)
    whole = [(path, None, text) for cases in (*BAD.values(), *GOOD.values()) for path, text in cases]
    changes = [case for cases in (*BAD_CHANGES.values(), *GOOD_CHANGES.values()) for case in cases]
    with worker_pool(severities=everything) as pool:
        for path, old, new in (*whole, *changes):
            before = None if old is None else old.encode()
            expected: list[JsonObject] = [
                {"rule": each.rule, "line": each.line} for each in policy.added(path, old=before, new=new.encode())
            ]

            assert pool.check(draft(path, new.encode(), before)) == expected
        assert len(pool._idle) == 1


def test_an_error_is_refused_with_rule_and_line_number_but_not_the_text_of_the_line() -> None:
    secret = b"x = 1\nkey = 'ghp_" + b"aB3dE5gH7jK9mN1pQ2sT4vW6xY8zA0cD2fG4'\n"
    with worker_pool() as pool:
        failure = refusal(pool, draft(), draft("b.py", secret))

    assert (failure.code, dict(failure.details)) == ("POLICY_VIOLATION", {"reason": "SECRET_IN_TEXT", "line": 2})
    assert failure.invariant_id == "POLICY_BEFORE_WRITE"
    assert failure.text.startswith("b.py:2: SECRET_IN_TEXT: remove the secret")


def test_no_worker_is_started_for_a_file_that_is_too_large_or_for_no_files() -> None:
    with worker_pool() as pool:
        assert told(refusal(pool, draft(new=b"x" * (MAX_CHECKED + 1)))) == ("POLICY_VIOLATION", "too_large")
        assert pool.check() == []
        assert pool._idle == []


@pytest.mark.slow
def test_content_that_takes_forever_is_refused_in_time_in_every_language() -> None:
    assert {maybe_language(path) for path in HOSTILE} == {*LANGUAGES, None}
    with worker_pool(QUICK) as pool:
        for path, content in HOSTILE.items():
            pool.check(draft())
            began = time.monotonic()
            failure = refusal(pool, draft(path, content))
            took = time.monotonic() - began

            assert (failure.code, failure.invariant_id) == ("POLICY_VIOLATION", "POLICY_BEFORE_WRITE")
            assert failure.details["reason"] in ("too_slow", "not_judged"), path
            assert path in failure.text
            assert took < 5, path


@pytest.mark.slow
@on_linux
def test_content_that_exhausts_memory_is_refused() -> None:
    with worker_pool(PATIENT) as pool:
        failure = refusal(pool, draft("a.java", HOSTILE["a.java"]))

        assert told(failure) == ("POLICY_VIOLATION", "not_judged")
        assert pool.check(draft()) == []


@pytest.mark.slow
def test_the_old_content_counts_too_and_a_set_shares_one_time_limit() -> None:
    with worker_pool(QUICK) as pool:
        assert told(refusal(pool, draft("a.go", b"package a\n", ARROWS))) == ("POLICY_VIOLATION", "too_slow")
        assert told(refusal(pool, *[SLOW] * 200)) == ("POLICY_VIOLATION", "too_slow")


def test_the_time_limit_grows_with_the_content_up_to_a_maximum() -> None:
    limits = PoolLimits()

    assert [limits.seconds_for(size) for size in (0, 1 << 20, 2 << 20, 20 << 20)] == [3.0, 7.0, 11.0, 20.0]


@pytest.mark.parametrize("tool", ["write_file", "apply_changes"])
def test_all_waits_of_a_change_stay_below_the_time_limit_of_the_tool(tool: str) -> None:
    contract = parse_object((SCHEMAS / f"{tool}.contract.json").read_bytes())
    limits = PoolLimits()

    assert 1000 * (WAIT_SECONDS + limits.wait_seconds + limits.max_seconds + SECONDS) < contract["caps"]["timeoutMs"]


def test_waiting_changes_leave_threads_for_other_tools() -> None:
    assert PoolLimits().max_pending + WAITERS < ServerSettings().worker_threads


def test_a_worker_is_reused_unless_it_checked_a_large_file() -> None:
    with worker_pool(PoolLimits(reuse_bytes=100)) as pool:
        pool.check(draft())
        first = idle_process(pool)
        pool.check(draft())

        assert idle_process(pool) == first
        pool.check(draft(new=b"x = 1\n" * 100))
        assert pool._idle == []


def test_a_worker_that_died_while_idle_is_replaced() -> None:
    with worker_pool() as pool:
        pool.check(draft())
        first = idle_process(pool)
        os.kill(first, signal.SIGKILL)

        assert told(refusal(pool, draft(new=b"breakpoint()\n"))) == ("POLICY_VIOLATION", "DEBUGGER_LEFT")
        assert idle_process(pool) != first


@pytest.mark.slow
def test_a_worker_that_dies_during_a_check_is_replaced_and_the_change_is_checked() -> None:
    with worker_pool(PATIENT) as pool, ThreadPoolExecutor(1) as threads:
        pool.check(draft())
        first = idle_process(pool)
        asked = threads.submit(pool.check, SLOW)
        assert busy_process(pool) == first
        os.kill(first, signal.SIGKILL)

        assert asked.result(30) == []
        assert idle_process(pool) != first


@pytest.mark.slow
def test_content_that_kills_every_worker_is_refused() -> None:
    with worker_pool(PATIENT) as pool, ThreadPoolExecutor(1) as threads:
        asked = threads.submit(refusal, pool, draft("a.go", ARROWS))
        killed: set[int] = set()
        while not asked.done():
            alive = {each.process.pid for each in list(pool._busy) if _is_checking(each.process.pid)} - killed
            for number in alive:
                os.kill(number, signal.SIGKILL)
            killed |= alive

        assert told(asked.result()) == ("POLICY_VIOLATION", "not_judged")
        assert len(killed) == 2


def _is_checking(number: int) -> bool:
    """Return whether a worker is past its start, by the CPU time it has used."""
    try:
        fields = Path(f"/proc/{number}/stat").read_text().rpartition(") ")[2].split()
    except OSError:
        return False
    return int(fields[11]) + int(fields[12]) > 0.7 * os.sysconf("SC_CLK_TCK")


def test_a_change_is_overloaded_if_too_many_wait_or_it_waits_too_long() -> None:
    with worker_pool(PoolLimits(processes=1, max_pending=2, wait_seconds=0.2)) as pool, ThreadPoolExecutor(1) as threads:
        with pool._turn():
            waits = threads.submit(refusal, pool, draft())
            while pool._pending._value:
                assert not waits.done()
            assert told(refusal(pool, draft())) == ("OVERLOADED", "policy_busy")
            assert told(waits.result(10)) == ("OVERLOADED", "policy_busy")
        assert pool.check(draft()) == []


def test_a_worker_that_cannot_be_started_is_an_internal_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(worker, "_PROGRAM", tmp_path / "absent.py")
    with worker_pool() as pool:
        assert told(refusal(pool, draft())) == ("INTERNAL_ERROR", "not_started")
        monkeypatch.setattr(sys, "executable", str(tmp_path / "absent"))
        assert told(refusal(pool, draft())) == ("INTERNAL_ERROR", "not_started")
        assert (pool._idle, pool._busy) == ([], [])


@pytest.mark.slow
@on_linux
def test_close_ends_every_worker_including_a_busy_one() -> None:
    with worker_pool(PATIENT) as pool, ThreadPoolExecutor(1) as threads:
        pool.check(draft())
        handle = os.pidfd_open(idle_process(pool))
        asked = threads.submit(refusal, pool, draft("a.go", ARROWS))
        busy_process(pool)
        pool.close()

        assert has_ended(handle, 10)
        assert asked.result(10).code == "OVERLOADED"
        assert (pool._idle, pool._busy) == ([], [])
        os.close(handle)


@pytest.mark.slow
@on_linux
@pytest.mark.parametrize("content", [b"x = 1\n", HOSTILE["a.py"]])
def test_a_worker_exits_when_the_server_is_killed(content: bytes) -> None:
    text = (
        "import sys, threading\n"
        "from strictwire.packs.workspace.policy.worker_pool import *\n"
        "pool = WorkerPool({}, PoolLimits(seconds=1.0))\n"
        "pool.check(Draft(path='a.py', old=None, new=b''))\n"
        "print(pool._idle[0].process.pid, flush=True)\n"
        "threading.Thread(target=pool.check, args=[Draft(path='a.py', old=None, new=sys.stdin.buffer.read())]).start()\n"
        "while pool._busy or pool._idle: pass\n"
    )
    with subprocess.Popen([sys.executable, "-c", text], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        handle = os.pidfd_open(int(server.stdout.readline()))
        server.stdin.write(content)
        server.stdin.close()
        has_ended(handle, 0.3)
        server.kill()

    assert has_ended(handle, 10)
    os.close(handle)


@on_linux
def test_a_worker_has_no_environment_no_inherited_descriptors_and_ignores_interrupts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SECRET", "s")
    inherited = os.dup(0)
    os.set_inheritable(inherited, True)
    with worker_pool() as pool:
        pool.check(draft())
        number = idle_process(pool)
        os.kill(number, signal.SIGINT)
        pool.check(draft())

        assert idle_process(pool) == number
        assert Path(f"/proc/{number}/environ").read_bytes() == b""
        assert {each.name for each in Path(f"/proc/{number}/fd").iterdir()} == {"0", "1", "2"}
        assert os.getsid(number) == number
        assert "NoNewPrivs:\t1" in Path(f"/proc/{number}/status").read_text()
    os.close(inherited)


@pytest.mark.parametrize(
    "attempt",
    ["open('/etc/hostname')", "open('/tmp/made-by-a-worker', 'w')", "socket.socket()", "os.execv('/bin/true', ['true'])"],
)
def test_a_worker_cannot_open_files_or_sockets_or_start_programs(attempt: str) -> None:
    text = (
        "import os, socket, runpy, json, sys\n"
        f"program = runpy.run_path({worker_process.__file__!r})\n"
        f"program['_import_from']({worker._folders()!r})\n"
        "program['_drop_privileges']()\n"
        f"try: {attempt}\n"
        "except PermissionError: os._exit(7)\n"
    )
    ended = subprocess.run([sys.executable, "-I", "-S", "-c", text], timeout=60, check=False)

    assert ended.returncode == 7


def test_nothing_is_imported_from_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("json", "struct", "msgspec", "tree_sitter", "sitecustomize"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit(7)")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with worker_pool() as pool:
        assert pool.check(draft()) == []


@pytest.mark.slow
def test_many_endless_writes_do_not_block_the_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limits = PoolLimits(seconds=2.5, max_seconds=2.5, wait_seconds=2.8)
    monkeypatch.setattr(sys.modules[WorkspacePack.__module__], "WorkerPool", partial(WorkerPool, limits=limits))

    async def use() -> None:
        async with open_harness(tmp_path) as harness:
            (harness.root / "src").mkdir()
            (harness.root / "src/a").write_bytes(b"here")
            planner = await harness.begin(PLANNER, "ANTIGRAVITY")
            session = {"session_id": await harness.begin(BUILDER, "WINDSURF")}
            base: dict[str, Any] = {"plan_hash": await harness.approved(planner), "phase_id": "PHASE_1"} | session
            content = ARROWS.decode()
            writes = [
                harness.code(BUILDER, "write_file", **base, path=f"src/{number}.go", content=content) for number in range(16)
            ]
            changes = [[{"operation": "create", "path": f"src/{number}.js", "content": content}] for number in range(16)]
            sets = [harness.code(BUILDER, "apply_changes", **base, changes=each) for each in changes]
            hostile = [asyncio.ensure_future(each) for each in (*writes, *sets)]
            # Writes that can neither be checked nor wait are refused at once. A few paths share a lock and wait for it.
            while sum(each.done() for each in hostile) < len(hostile) - PoolLimits().max_pending - WAITERS:
                await asyncio.wait([each for each in hostile if not each.done()], return_when=asyncio.FIRST_COMPLETED)
            for _ in range(5):
                seen = await harness.call(BUILDER, "read_file", **session, path="src/a")
                assert seen["content"] == "here"
            # No check has ended yet, and no read had to wait for one.
            assert {each.result()[0] for each in hostile if each.done()} == {"UNKNOWN_TOOL_FAILURE"}
            assert {await each for each in hostile} == {
                ("POLICY_VIOLATION", "too_slow"),
                ("UNKNOWN_TOOL_FAILURE", "policy_busy"),
            }
            assert [path.name for path in (harness.root / "src").iterdir()] == ["a"]
            done = await harness.call(BUILDER, "write_file", **base, path="src/b.py", content="x = 1\n")
            assert done["warnings"] == []

    run(use())

"""The processes that judge content: whatever is sent, an answer comes in time, and nothing that was not judged is passed."""

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
from tests.packs.workspace.desk import BUILDER, PLANNER, open_desk, run
from tests.packs.workspace.policy_cases import BAD, BAD_CHANGES, GOOD, GOOD_CHANGES
from tests.packs.workspace.test_preflight import needs_landlock, needs_seccomp

from strictwire.canon.json import JsonObject, parse_object
from strictwire.fault.failure import Failure, Refused
from strictwire.packs.workspace.latch import WAIT_SECONDS, WAITERS
from strictwire.packs.workspace.pack import WorkspacePack
from strictwire.packs.workspace.policy import process, worker
from strictwire.packs.workspace.policy.judge import MAX_JUDGED, Policy
from strictwire.packs.workspace.policy.judges import JudgeLimits, Judges
from strictwire.packs.workspace.policy.languages import LANGUAGES, maybe_language
from strictwire.packs.workspace.policy.rule import Severity
from strictwire.packs.workspace.policy.rules import RULES
from strictwire.packs.workspace.policy.worker import Draft
from strictwire.packs.workspace.preflight import SECONDS
from strictwire.settings.model import ServerSettings

SCHEMAS = Path(__file__).parents[3] / "schemas" / "tools"

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
"""Content that takes a parser or a pattern minutes, or all memory."""

SLOW = Draft(path="a.py", old=None, new=b"lambda:" * 5_000)
"""Takes longer than honest code, and ends."""

QUICK = JudgeLimits(seconds=0.3, most_seconds=0.3)
PATIENT = JudgeLimits(seconds=30.0, most_seconds=30.0)

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


@contextmanager
def judges(limits: JudgeLimits | None = None, severities: Mapping[str, Severity] | None = None) -> Iterator[Judges]:
    opened = Judges(severities or {}, limits)
    try:
        yield opened
    finally:
        opened.close()


def draft(path: str = "a.py", new: bytes = b"x = 1\n", old: bytes | None = None) -> Draft:
    return Draft(path=path, old=old, new=new)


def refusal(court: Judges, *drafts: Draft) -> Failure:
    with pytest.raises(Refused) as caught:
        court.check(*drafts)
    return caught.value.failure


def told(failure: Failure) -> tuple[str, Any]:
    return failure.code, failure.details["reason"]


def idle_process(court: Judges) -> int:
    """The process that the last change has used."""
    return court._idle[-1].process.pid


def busy_process(court: Judges) -> int:
    """The process that judges now."""
    until = time.monotonic() + 10
    while not court._busy:
        assert time.monotonic() < until
    return court._busy[0].process.pid


def has_ended(handle: int, seconds: float) -> bool:
    """Whether a process, by its descriptor, ends in this time."""
    waiting = select.poll()
    waiting.register(handle, select.POLLIN)
    return bool(waiting.poll(seconds * 1000))


def test_a_process_says_what_the_policy_says() -> None:
    everything = {rule.id: Severity.WARNING for rule in RULES}
    policy = Policy(severities=everything)
    whole = [(path, None, text) for cases in (*BAD.values(), *GOOD.values()) for path, text in cases]
    changes = [case for cases in (*BAD_CHANGES.values(), *GOOD_CHANGES.values()) for case in cases]
    with judges(severities=everything) as court:
        for path, old, new in (*whole, *changes):
            before = None if old is None else old.encode()
            expected: list[JsonObject] = [
                {"rule": each.rule, "line": each.line} for each in policy.added(path, old=before, new=new.encode())
            ]

            assert court.check(draft(path, new.encode(), before)) == expected
        assert len(court._idle) == 1


def test_an_error_is_refused_with_its_rule_and_its_line_and_never_tells_the_line_itself() -> None:
    secret = b"x = 1\nkey = 'ghp_" + b"aB3dE5gH7jK9mN1pQ2sT4vW6xY8zA0cD2fG4'\n"
    with judges() as court:
        failure = refusal(court, draft(), draft("b.py", secret))

    assert (failure.code, dict(failure.details)) == ("POLICY_VIOLATION", {"reason": "SECRET_IN_TEXT", "line": 2})
    assert failure.invariant_id == "POLICY_BEFORE_WRITE"
    assert failure.text.startswith("b.py:2: SECRET_IN_TEXT: take the secret out")


def test_what_is_too_large_is_refused_and_no_process_is_started_for_it_or_for_nothing() -> None:
    with judges() as court:
        assert told(refusal(court, draft(new=b"x" * (MAX_JUDGED + 1)))) == ("POLICY_VIOLATION", "too_large")
        assert court.check() == []
        assert court._idle == []


@pytest.mark.slow
def test_content_that_takes_for_ever_is_refused_in_time_in_every_language() -> None:
    assert {maybe_language(path) for path in HOSTILE} == {*LANGUAGES, None}
    with judges(QUICK) as court:
        for path, content in HOSTILE.items():
            court.check(draft())
            began = time.monotonic()
            failure = refusal(court, draft(path, content))
            took = time.monotonic() - began

            assert (failure.code, failure.invariant_id) == ("POLICY_VIOLATION", "POLICY_BEFORE_WRITE")
            assert failure.details["reason"] in ("too_slow", "not_judged"), path
            assert path in failure.text
            assert took < 5, path


@pytest.mark.slow
@on_linux
def test_content_that_takes_all_memory_is_refused() -> None:
    with judges(PATIENT) as court:
        failure = refusal(court, draft("a.java", HOSTILE["a.java"]))

        assert told(failure) == ("POLICY_VIOLATION", "not_judged")
        assert court.check(draft()) == []


@pytest.mark.slow
def test_the_old_content_counts_as_well_and_a_set_has_one_time_for_all_its_files() -> None:
    with judges(QUICK) as court:
        assert told(refusal(court, draft("a.go", b"package a\n", ARROWS))) == ("POLICY_VIOLATION", "too_slow")
        assert told(refusal(court, *[SLOW] * 200)) == ("POLICY_VIOLATION", "too_slow")


def test_the_time_grows_with_the_content_and_has_an_end() -> None:
    limits = JudgeLimits()

    assert [limits.seconds_for(size) for size in (0, 1 << 20, 2 << 20, 20 << 20)] == [3.0, 7.0, 11.0, 20.0]


@pytest.mark.parametrize("tool", ["write_file", "apply_changes"])
def test_all_that_a_change_waits_for_takes_less_than_the_tool_s_time_limit(tool: str) -> None:
    contract = parse_object((SCHEMAS / f"{tool}.contract.json").read_bytes())
    limits = JudgeLimits()

    assert 1000 * (WAIT_SECONDS + limits.wait_seconds + limits.most_seconds + SECONDS) < contract["caps"]["timeoutMs"]


def test_changes_that_wait_leave_threads_to_other_tools() -> None:
    assert JudgeLimits().places + WAITERS < ServerSettings().worker_threads


def test_a_process_is_kept_for_the_next_change_unless_it_had_much_to_judge() -> None:
    with judges(JudgeLimits(kept_bytes=100)) as court:
        court.check(draft())
        first = idle_process(court)
        court.check(draft())

        assert idle_process(court) == first
        court.check(draft(new=b"x = 1\n" * 100))
        assert court._idle == []


def test_a_process_that_died_while_it_waited_is_replaced() -> None:
    with judges() as court:
        court.check(draft())
        first = idle_process(court)
        os.kill(first, signal.SIGKILL)

        assert told(refusal(court, draft(new=b"breakpoint()\n"))) == ("POLICY_VIOLATION", "DEBUGGER_LEFT")
        assert idle_process(court) != first


@pytest.mark.slow
def test_a_process_that_dies_while_it_judges_is_replaced_and_the_change_is_judged() -> None:
    with judges(PATIENT) as court, ThreadPoolExecutor(1) as threads:
        court.check(draft())
        first = idle_process(court)
        asked = threads.submit(court.check, SLOW)
        assert busy_process(court) == first
        os.kill(first, signal.SIGKILL)

        assert asked.result(30) == []
        assert idle_process(court) != first


@pytest.mark.slow
def test_what_kills_every_process_is_refused() -> None:
    with judges(PATIENT) as court, ThreadPoolExecutor(1) as threads:
        asked = threads.submit(refusal, court, draft("a.go", ARROWS))
        killed: set[int] = set()
        while not asked.done():
            alive = {each.process.pid for each in list(court._busy) if _is_judging(each.process.pid)} - killed
            for number in alive:
                os.kill(number, signal.SIGKILL)
            killed |= alive

        assert told(asked.result()) == ("POLICY_VIOLATION", "not_judged")
        assert len(killed) == 2


def _is_judging(number: int) -> bool:
    """Whether a process is past its start: then it has taken more time than a start takes."""
    try:
        fields = Path(f"/proc/{number}/stat").read_text().rpartition(") ")[2].split()
    except OSError:
        return False
    return int(fields[11]) + int(fields[12]) > 0.7 * os.sysconf("SC_CLK_TCK")


def test_a_change_that_finds_no_place_or_waits_too_long_is_told_to_come_again() -> None:
    with judges(JudgeLimits(processes=1, places=2, wait_seconds=0.2)) as court, ThreadPoolExecutor(1) as threads:
        with court._turn():
            waits = threads.submit(refusal, court, draft())
            while court._places._value:
                assert not waits.done()
            assert told(refusal(court, draft())) == ("OVERLOADED", "policy_busy")
            assert told(waits.result(10)) == ("OVERLOADED", "policy_busy")
        assert court.check(draft()) == []


def test_a_process_that_does_not_start_is_our_fault(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(worker, "_PROGRAM", tmp_path / "absent.py")
    with judges() as court:
        assert told(refusal(court, draft())) == ("INTERNAL_ERROR", "not_started")
        monkeypatch.setattr(sys, "executable", str(tmp_path / "absent"))
        assert told(refusal(court, draft())) == ("INTERNAL_ERROR", "not_started")
        assert (court._idle, court._busy) == ([], [])


@pytest.mark.slow
@on_linux
def test_closing_ends_every_process_also_one_that_judges() -> None:
    with judges(PATIENT) as court, ThreadPoolExecutor(1) as threads:
        court.check(draft())
        handle = os.pidfd_open(idle_process(court))
        asked = threads.submit(refusal, court, draft("a.go", ARROWS))
        busy_process(court)
        court.close()

        assert has_ended(handle, 10)
        assert asked.result(10).code == "OVERLOADED"
        assert (court._idle, court._busy) == ([], [])
        os.close(handle)


@pytest.mark.slow
@on_linux
@pytest.mark.parametrize("content", [b"x = 1\n", HOSTILE["a.py"]])
def test_a_process_ends_when_the_server_is_killed(content: bytes) -> None:
    text = (
        "import sys, threading\n"
        "from strictwire.packs.workspace.policy.judges import *\n"
        "court = Judges({}, JudgeLimits(seconds=1.0))\n"
        "court.check(Draft(path='a.py', old=None, new=b''))\n"
        "print(court._idle[0].process.pid, flush=True)\n"
        "threading.Thread(target=court.check, args=[Draft(path='a.py', old=None, new=sys.stdin.buffer.read())]).start()\n"
        "while court._busy or court._idle: pass\n"
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
def test_a_process_has_no_environment_no_descriptors_of_ours_and_does_not_mind_an_interrupt(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SECRET", "s")
    inherited = os.dup(0)
    os.set_inheritable(inherited, True)
    with judges() as court:
        court.check(draft())
        number = idle_process(court)
        os.kill(number, signal.SIGINT)
        court.check(draft())

        assert idle_process(court) == number
        assert Path(f"/proc/{number}/environ").read_bytes() == b""
        assert {each.name for each in Path(f"/proc/{number}/fd").iterdir()} == {"0", "1", "2"}
        assert os.getsid(number) == number
        assert "NoNewPrivs:\t1" in Path(f"/proc/{number}/status").read_text()
    os.close(inherited)


@needs_landlock
@needs_seccomp
@pytest.mark.parametrize(
    "attempt",
    ["open('/etc/hostname')", "open('/tmp/made-by-a-judge', 'w')", "socket.socket()", "os.execv('/bin/true', ['true'])"],
)
def test_a_process_can_open_no_file_and_no_socket_and_start_no_program(attempt: str) -> None:
    text = (
        "import os, socket, runpy, json, sys\n"
        f"program = runpy.run_path({process.__file__!r})\n"
        f"program['_import_from']({worker._folders()!r})\n"
        "program['_give_up_rights']()\n"
        f"try: {attempt}\n"
        "except PermissionError: os._exit(7)\n"
    )
    ended = subprocess.run([sys.executable, "-I", "-S", "-c", text], timeout=60, check=False)

    assert ended.returncode == 7


def test_nothing_is_imported_from_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("json", "struct", "msgspec", "tree_sitter", "sitecustomize"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit(7)")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with judges() as court:
        assert court.check(draft()) == []


@pytest.mark.slow
def test_many_writes_that_take_for_ever_leave_the_server_answering(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limits = JudgeLimits(seconds=2.5, most_seconds=2.5, wait_seconds=2.8)
    monkeypatch.setattr(sys.modules[WorkspacePack.__module__], "Judges", partial(Judges, limits=limits))

    async def use() -> None:
        async with open_desk(tmp_path) as desk:
            (desk.root / "src").mkdir()
            (desk.root / "src/a").write_bytes(b"here")
            planner = await desk.begin(PLANNER, "ANTIGRAVITY")
            session = {"session_id": await desk.begin(BUILDER, "WINDSURF")}
            base: dict[str, Any] = {"plan_hash": await desk.approved(planner), "phase_id": "PHASE_1"} | session
            content = ARROWS.decode()
            writes = [
                desk.code(BUILDER, "write_file", **base, path=f"src/{number}.go", content=content) for number in range(16)
            ]
            changes = [[{"operation": "create", "path": f"src/{number}.js", "content": content}] for number in range(16)]
            sets = [desk.code(BUILDER, "apply_changes", **base, changes=each) for each in changes]
            hostile = [asyncio.ensure_future(each) for each in (*writes, *sets)]
            # Those that can be neither judged nor wait are told at once. A few paths share a lock, and so wait for that.
            while sum(each.done() for each in hostile) < len(hostile) - JudgeLimits().places - WAITERS:
                await asyncio.wait([each for each in hostile if not each.done()], return_when=asyncio.FIRST_COMPLETED)
            for _ in range(5):
                seen = await desk.call(BUILDER, "read_file", **session, path="src/a")
                assert seen["content"] == "here"
            # Nothing was judged yet, and no read had to wait for it.
            assert {each.result()[0] for each in hostile if each.done()} == {"UNKNOWN_TOOL_FAILURE"}
            assert {await each for each in hostile} == {
                ("POLICY_VIOLATION", "too_slow"),
                ("UNKNOWN_TOOL_FAILURE", "policy_busy"),
            }
            assert [path.name for path in (desk.root / "src").iterdir()] == ["a"]
            done = await desk.call(BUILDER, "write_file", **base, path="src/b.py", content="x = 1\n")
            assert done["warnings"] == []

    run(use())

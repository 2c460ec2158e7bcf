"""Standard input and output: guarded descriptors, bounded lines, nothing lost at the end of input, a clean way out."""

from __future__ import annotations

import asyncio
import fcntl
import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from strictwire.audit.recorder import Done
from strictwire.canon.json import parse_object
from strictwire.pipeline.call import Caller
from strictwire.pipeline.write_batch import WriteBatch
from strictwire.profiles.endpoint import Deliver, Inbound, Outlet, Reply
from strictwire.stores.memory.recorder import MemoryRecorder
from strictwire.transport.stdio import StdioServer
from strictwire.transport.stdio_pipes import HIGH_WATER
from tests.fixtures.live import (
    HERE,
    INITIALIZED,
    PATIENCE,
    StdioProcess,
    command,
    environment,
    initialize,
    legacy,
    modern,
    run,
    wait_for,
)


def call(request_id: object, name: str, /, **arguments: Any) -> bytes:
    return modern(request_id, "tools/call", {"name": name, "arguments": arguments})


def value_of(answer: dict[str, Any]) -> Any:
    return answer["result"]["structuredContent"]["result"]


def cancel(request_id: object) -> bytes:
    return legacy(None, "notifications/cancelled", {"requestId": request_id}).replace(b'"id":null,', b"")


def told(process: StdioProcess, words: str) -> bool:
    return words in value_of(process.ask(call("story", "story")))


def test_what_a_handler_prints_goes_to_standard_error(fresh: StdioProcess) -> None:
    answer = fresh.ask(call(1, "noise"))

    assert answer["result"]["content"] == [{"type": "text", "text": "read 0"}]
    wait_for(lambda: {b"print\n", b"descriptor\n", b"child\n"} <= set(fresh.errors))


def test_blank_lines_are_no_messages(stdio: StdioProcess) -> None:
    stdio.write(b"\n\r\n   \n\t\n" + call(1, "add", a=1, b=2) + b"\r\n")

    assert value_of(stdio.receive()) == 3


@pytest.mark.skipif(sys.platform != "linux", reason="pipes are widened there alone")
def test_a_burst_of_large_answers_fits_into_the_pipe(fresh: StdioProcess) -> None:
    assert value_of(fresh.ask(call(1, "add", a=1, b=2))) == 3
    assert fresh.process.stdout is not None

    assert fcntl.fcntl(fresh.process.stdout, fcntl.F_GETPIPE_SZ) == HIGH_WATER


def test_a_line_may_come_in_any_pieces(stdio: StdioProcess) -> None:
    seed = 20260728
    print("seed", seed)
    chance = random.Random(seed)
    raw = b"".join(call(number, "add", a=number, b=0) + b"\n" for number in range(20))
    while raw:
        cut = chance.randint(1, 200)
        stdio.write(raw[:cut])
        raw = raw[cut:]

    assert sorted(value_of(stdio.receive()) for _ in range(20)) == list(range(20))


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc for the memory of the process")
@pytest.mark.slow
def test_a_line_of_64_mib_is_refused_without_being_kept(fresh: StdioProcess) -> None:
    assert value_of(fresh.ask(call(1, "add", a=1, b=2))) == 3
    before = fresh.memory()
    for _ in range(64):
        fresh.write(b"x" * (1024 * 1024))
    fresh.send(b"", call(2, "add", a=2, b=2))
    refused, served = fresh.receive(), fresh.receive()

    assert (refused["error"]["code"], refused["error"]["data"]["code"]) == (-32600, "REQUEST_TOO_LARGE")
    assert "id" not in refused
    assert value_of(served) == 4
    assert fresh.memory() - before < 24 * 1024 * 1024


def test_a_line_at_the_limit_is_served_and_one_past_it_refused() -> None:
    limit = 4096
    with StdioProcess("hard:server", env={"STRICTWIRE_SERVER_MAX_REQUEST_BYTES": str(limit)}) as process:
        spare = limit - len(call(1, "say", text=""))
        fits = process.ask(call(1, "say", text="x" * spare))
        refused = process.ask(call(1, "say", text="x" * (spare + 1)))

    assert fits["result"]["content"][0]["text"] == "x" * spare
    assert refused["error"]["data"] == {"code": "REQUEST_TOO_LARGE"}


@pytest.mark.slow
def test_a_request_before_the_end_of_input_is_always_answered() -> None:
    """`echo request | strictwire serve --stdio`, fifty times."""
    raw = call(1, "add_in_thread", a=20, b=22) + b"\n"

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: run(command("hard:server", "--stdio"), given=raw), range(50)))

    assert {(done.returncode, done.stdout.count(b"\n"), b'"result":42' in done.stdout) for done in answers} == {(0, 1, True)}


def test_all_that_was_asked_is_answered_after_the_end_of_input(fresh: StdioProcess) -> None:
    fresh.send(*(call(number, "add_in_thread", a=number, b=0) for number in range(200)))
    fresh.write(call("last", "add", a=1, b=1))  # without a line break
    fresh.end_input()
    lines = fresh.rest()

    assert len(lines) == 201
    assert fresh.process.wait(PATIENCE) == 0


def test_a_question_has_no_answer_after_the_end_of_input(fresh: StdioProcess) -> None:
    fresh.send(initialize(capabilities={"elicitation": {}}), INITIALIZED)
    assert fresh.receive()["id"] == "init"
    question = fresh.ask(legacy(1, "tools/call", {"name": "ask_name", "arguments": {"greeting": "Hi"}}))
    fresh.end_input()
    answer = fresh.receive()

    assert question["method"] == "elicitation/create"
    assert (answer["id"], answer["result"]["isError"]) == (1, True)
    assert fresh.process.wait(PATIENCE) == 0


def test_a_subscription_ends_with_a_result_at_the_end_of_input(fresh: StdioProcess) -> None:
    acknowledged = fresh.ask(modern("s", "subscriptions/listen", {"notifications": {"toolsListChanged": True}}))
    fresh.end_input()
    ended = fresh.receive()

    assert acknowledged["method"] == "notifications/subscriptions/acknowledged"
    assert ended == {
        "jsonrpc": "2.0",
        "id": "s",
        "result": {"resultType": "complete", "_meta": {"io.modelcontextprotocol/subscriptionId": "s"}},
    }
    assert fresh.process.wait(PATIENCE) == 0


def test_files_are_read_and_written_like_pipes(tmp_path: Path) -> None:
    source, sink = tmp_path / "in", tmp_path / "out"
    source.write_bytes(call(1, "add", a=1, b=2) + b"\n{\n")
    with source.open("rb") as given, sink.open("wb") as taken:
        done = subprocess.run(
            command("hard:server", "--stdio"), cwd=HERE, env=environment(), stdin=given, stdout=taken,
            stderr=subprocess.DEVNULL, timeout=PATIENCE, check=False,
        )  # fmt: skip

    assert done.returncode == 0
    assert [b'"id":1' in line for line in sorted(sink.read_bytes().splitlines())] == [False, True]


def test_a_client_that_no_longer_reads_ends_the_server() -> None:
    reader, writer = os.pipe()
    with subprocess.Popen(
        command("hard:server", "--stdio"), cwd=HERE, env=environment(), stdin=subprocess.PIPE, stdout=writer,
        stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        os.close(writer)
        os.close(reader)
        assert process.stdin is not None
        process.stdin.write(call(1, "add", a=1, b=1) + b"\n")
        process.stdin.close()

        assert process.wait(PATIENCE) == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_cleanly(number: int) -> None:
    with StdioProcess("hasty:server") as process:
        process.send(call(1, "hold", name="x"))
        wait_for(lambda: told(process, "began x"))

        assert process.stop(number) == 0
        assert not any(b"Traceback" in line for line in process.errors)


def test_a_thread_that_hangs_does_not_keep_the_process() -> None:
    with StdioProcess("hasty:server") as process:
        process.send(call(1, "hang"))
        wait_for(lambda: told(process, "began hang"))

        assert process.stop() == 0


def test_a_thread_that_hangs_does_not_keep_the_process_at_the_end_of_input() -> None:
    with StdioProcess("hasty:server") as process:
        process.send(call(1, "hang"))
        wait_for(lambda: told(process, "began hang"))
        process.end_input()

        assert process.process.wait(PATIENCE) == 0


def test_a_thousand_calls_in_flight_are_each_answered_with_their_own_id(fresh: StdioProcess) -> None:
    names = [f"n{number}" for number in range(1000)]
    fresh.send(*(call(name if number % 2 else number, "hold", name=name) for number, name in enumerate(names)))
    wait_for(lambda: len(value_of(fresh.ask(call("story", "story")))) == 1000)
    order = names[:]
    random.Random(7).shuffle(order)
    fresh.send(*(call(f"go {name}", "let_go", name=name) for name in order))
    answers = [fresh.receive() for _ in range(2000)]
    held = {
        answer["id"]: answer["result"]["content"][0]["text"] for answer in answers if not str(answer["id"]).startswith("go")
    }

    assert held == {(name if number % 2 else number): name for number, name in enumerate(names)}


def test_a_second_request_with_an_id_in_flight_is_refused_and_the_first_is_served(fresh: StdioProcess) -> None:
    fresh.send(call(1, "hold", name="x"))
    wait_for(lambda: told(fresh, "began x"))
    refused = fresh.ask(call(1, "add", a=1, b=1))
    fresh.send(call(2, "let_go", name="x"))
    answers = {answer["id"]: answer for answer in (fresh.receive(), fresh.receive())}
    again = fresh.ask(call(1, "add", a=1, b=1))

    assert (refused["id"], refused["error"]["data"]["code"], refused["error"]["code"]) == (1, "DUPLICATE_ID", -32600)
    assert answers[1]["result"]["content"][0]["text"] == "x"
    assert value_of(again) == 2


def test_cancelling_1_leaves_the_request_named_by_the_text_1_alone(fresh: StdioProcess) -> None:
    fresh.send(call(1, "hold", name="number"), call("1", "hold", name="text"))
    wait_for(lambda: told(fresh, "began text") and told(fresh, "began number"))
    fresh.send(cancel(1))
    wait_for(lambda: told(fresh, "cancelled number"))
    fresh.send(call("go", "let_go", name="text"))
    answers = {answer["id"]: answer for answer in (fresh.receive(), fresh.receive())}
    reused = fresh.ask(call(1, "add", a=1, b=1))

    assert answers.keys() == {"1", "go"}
    assert value_of(reused) == 2


def test_a_cancellation_of_nothing_is_passed_over(stdio: StdioProcess) -> None:
    stdio.send(*map(cancel, ["nope", 999, None, True, 1.5, [], {}]), b'{"jsonrpc":"2.0","method":"notifications/cancelled"}')

    assert value_of(stdio.ask(call(1, "add", a=1, b=1))) == 2


def test_a_handler_that_swallows_its_cancellation_is_not_heard(fresh: StdioProcess) -> None:
    fresh.send(call(1, "deaf"))
    wait_for(lambda: told(fresh, "began deaf"))
    fresh.send(cancel(1))
    wait_for(lambda: told(fresh, "deaf went on"))
    fresh.end_input()

    assert fresh.rest() == []


def test_a_late_thread_has_nothing_more_to_say(fresh: StdioProcess) -> None:
    level = {"io.modelcontextprotocol/logLevel": "debug"}
    answer = fresh.ask(modern(1, "tools/call", {"name": "late"}, progressToken="t", **level))
    freed = fresh.ask(call(2, "free_late"))
    wait_for(lambda: told(fresh, "late spoke"))
    fresh.end_input()

    assert answer["result"]["structuredContent"]["error"]["code"] == "TIMEOUT"
    assert (freed["id"], fresh.rest()) == (2, [])


def test_a_slow_reader_does_not_make_the_server_lose_or_mix_lines(fresh: StdioProcess) -> None:
    """Far more than a pipe holds is written before anything is read."""
    size = 300_000
    fresh.send(*(call(number, "big", size=size) for number in range(20)))
    answers = [fresh.receive() for _ in range(20)]

    assert sorted(answer["id"] for answer in answers) == list(range(20))
    assert {len(answer["result"]["structuredContent"]["text"]) for answer in answers} == {size}


def test_a_client_that_does_not_read_has_no_further_requests_begun(fresh: StdioProcess) -> None:
    """Answers that nobody reads would fill the memory; a request that is not begun waits as the line that it is."""
    fresh.send(*(call(number, "big_at_once", size=300_000) for number in range(60)))
    wait_for(lambda: fresh.process.pid > 0 and _is_idle(fresh.process.pid))
    resident = _resident_bytes(fresh.process.pid)
    answers = [fresh.receive() for _ in range(60)]

    assert resident < 90 * 1024 * 1024
    assert sorted(answer["id"] for answer in answers) == list(range(60))


def _is_idle(pid: int) -> bool:
    """Whether a process used no processor time between two looks."""
    before = _ticks(pid)
    threading.Event().wait(0.3)
    return before > 20 and _ticks(pid) == before


def _ticks(pid: int) -> int:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def _resident_bytes(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Echo:
    """Answers with the message itself, once a record that it has not written is durable."""

    def __init__(self, batch: WriteBatch) -> None:
        self._batch = batch

    async def serve(self, inbound: Inbound, _outlet: Outlet, deliver: Deliver) -> None:
        self._batch.add_record(b"{}", lambda _failure: deliver(Reply(body=inbound.body)))


class Writes(list[bytes]):
    """What was written at once."""

    write = list.append
    unsent = 0

    def abort(self) -> None:
        """Nothing is kept back."""

    async def close(self) -> None:
        """Nothing is kept back."""


class Reading:
    """Always reads."""

    def resume(self) -> None:
        """It never stops."""


def test_requests_of_one_read_share_a_commit_and_a_write() -> None:
    writes, recorder, lines = Writes(), MemoryRecorder(), [b"%d" % number for number in range(10)]
    commits: list[int] = []
    append = recorder.append

    def count(bodies: Sequence[bytes], done: Done) -> None:
        commits.append(len(bodies))
        append(bodies, done)

    recorder.append = count  # type: ignore[method-assign]

    async def serve() -> None:
        batch = WriteBatch(recorder)
        server: Any = StdioServer(Echo(batch), batch, caller=Caller(), max_line=100)  # type: ignore[arg-type]
        server._writer = writes
        server._reader = Reading()
        server.feed(b"\n".join([*lines, b""]))
        while not writes:
            await asyncio.sleep(0)

    asyncio.run(serve())

    assert (commits, [written.splitlines() for written in writes]) == ([10], [lines])


@pytest.mark.parametrize("size", [1000, 400_000])
def test_any_event_loop_serves(size: int) -> None:
    """uvloop has other transports than asyncio: only what asyncio documents may be used of them."""
    program = (
        "import asyncio, sys, uvloop; sys.path.insert(0, 'tests/fixtures'); from hard import server; "
        "asyncio.set_event_loop_policy(uvloop.EventLoopPolicy()); server.run(['--stdio'])"
    )
    with subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        asked = b"".join(call(number, "big", size=size) + b"\n" for number in range(5))
        answered, _ = process.communicate(asked, PATIENCE)

    answers = [parse_object(line) for line in answered.splitlines()]
    assert sorted((each["id"], len(each["result"]["structuredContent"]["text"])) for each in answers) == [
        (number, size) for number in range(5)
    ]

"""One call through the stages: the order, the one catch-all, the record before the answer."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
import pytest
from tests.fixtures.live import PATIENCE

from strictwire.canon.json import JsonValue
from strictwire.contract.handler import Answer, Ask, Handler, Memo
from strictwire.contract.safety import Safety
from strictwire.contract.tool import Caps, ToolContract
from strictwire.fault.catalogue import Stage
from strictwire.fault.failure import Facts, Failure, Refused, fail
from strictwire.pipeline.call import AnswersNeeded, Asking, Call, Caller, Done, Kind, Outcome
from strictwire.pipeline.catalog import Offers
from strictwire.pipeline.clock import deterministic_clock
from strictwire.pipeline.compiled import CompiledTool
from strictwire.pipeline.deadline import Deadline
from strictwire.pipeline.perform import Pipeline
from strictwire.pipeline.record import Journal
from strictwire.pipeline.run import HandlerRunner
from strictwire.pipeline.threads import DaemonThreads
from strictwire.pipeline.write_batch import WriteBatch
from strictwire.stores.memory.recorder import MemoryRecorder

INPUT = {
    "type": "object",
    "properties": {"n": {"type": "integer"}},
    "required": ["n"],
    "additionalProperties": False,
}
OUTPUT = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}


class PlainContext:
    deadline: Deadline | None = None
    attributed: Facts | None = None
    facts: Mapping[str, str | None] = {}

    def attribute(self, facts: Facts) -> None: ...

    def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None: ...
    def log(self, level: str, data: JsonValue, logger: str | None = None) -> None: ...
    def diagnose(self, note: str) -> None: ...
    def close_stream(self) -> None: ...

    async def ask(self, questions: Mapping[str, Ask]) -> Mapping[str, dict[str, Any]]:
        raise AnswersNeeded(questions)


@dataclass(frozen=True)
class Shown:
    outcome: Outcome
    envelope: JsonValue = None
    body: bytes | None = None


def show(outcome: Outcome, tool: CompiledTool | None) -> Shown:
    return Shown(outcome, "sent" if isinstance(outcome, Failure) else None)


class Bench:
    """A pipeline with one tool, and what it recorded."""

    def __init__(self, handler: Handler, executor: DaemonThreads, **contract: Any) -> None:
        made = ToolContract(
            name="t", description="d", input_schema=INPUT, **{"output_schema": OUTPUT, "safety": Safety.READ_ONLY} | contract
        )
        self.recorder = MemoryRecorder()
        self.offers = Offers().with_tools([(made, handler)])
        self._executor = executor

    async def perform(self, arguments: dict[str, Any] | None = None, **changes: Any) -> Outcome:
        call = Call(
            kind=Kind.TOOL,
            target="t",
            arguments={"n": 1} if arguments is None else arguments,
            caller=Caller(),
            transport="memory",
            profile="mcp",
            method="tools/call",
            revision="2026-07-28",
            context=PlainContext(),
        )
        journal = Journal(recorder=self.recorder, batch=WriteBatch(self.recorder), clock=deterministic_clock())
        pipeline = Pipeline(journal, HandlerRunner(self._executor))
        shown: asyncio.Future[Shown] = asyncio.get_running_loop().create_future()
        call = msgspec.structs.replace(call, **changes)
        try:
            await pipeline.perform(call, self.offers.find(call.kind, call.target), show, shown.set_result)
        finally:
            journal.batch.flush()
        return (await shown).outcome

    @property
    def running(self) -> int:
        return self.offers.limit.running


@pytest.fixture
def executor() -> Any:
    pool = DaemonThreads(4, name="test")
    yield pool
    pool.shutdown(wait=True)


async def echo(arguments: dict[str, Any], _context: object) -> dict[str, Any]:
    return {"n": arguments["n"]}


def code_of(outcome: Outcome) -> str:
    assert isinstance(outcome, Failure)
    return outcome.code


def test_a_good_call_is_done_and_recorded_once(executor: DaemonThreads) -> None:
    bench = Bench(echo, executor)

    outcome = asyncio.run(bench.perform())

    assert outcome == Done(value={"n": 1}, raw=b'{"n":1}')
    assert [each["kind"] for each in bench.recorder.records] == ["call"]
    assert bench.running == 0


@pytest.mark.parametrize(
    ("changes", "code", "stage"),
    [
        ({"target": "other"}, "UNKNOWN_TOOL", Stage.ADMIT),
        ({"kind": Kind.PROMPT}, "UNKNOWN_PROMPT", Stage.ADMIT),
        ({"kind": Kind.RESOURCE}, "RESOURCE_NOT_FOUND", Stage.ADMIT),
        ({"kind": Kind.COMPLETION}, "METHOD_NOT_FOUND", Stage.ROUTE),
        ({"arguments": {"n": "1"}}, "INVALID_PARAMS", Stage.ACCEPT),
    ],
)
def test_each_refusal_has_its_code_and_its_record(
    executor: DaemonThreads, changes: dict[str, Any], code: str, stage: Stage
) -> None:
    bench = Bench(echo, executor)

    outcome = asyncio.run(bench.perform(**changes))

    assert (code_of(outcome), bench.recorder.records[0]["stage"]) == (code, stage.value)
    assert bench.running == 0


def test_unknown_tool_is_refused_before_authorisation_and_role_before_arguments(executor: DaemonThreads) -> None:
    bench = Bench(echo, executor, roles=frozenset({"WINDSURF"}))

    assert code_of(asyncio.run(bench.perform(target="x", arguments={}))) == "UNKNOWN_TOOL"
    assert code_of(asyncio.run(bench.perform(arguments={}))) == "PERMISSION_DENIED"
    assert code_of(asyncio.run(bench.perform(arguments={}, caller=Caller(role="WINDSURF")))) == "INVALID_PARAMS"


def test_a_tier_above_the_callers_is_denied_with_both_named(executor: DaemonThreads) -> None:
    outcome = asyncio.run(Bench(echo, executor, tier="pro").perform())

    assert outcome == fail("PERMISSION_DENIED", details={"requiredTier": "pro", "currentTier": "core"})


def test_a_missing_client_capability_is_named(executor: DaemonThreads) -> None:
    bench = Bench(echo, executor, capabilities=frozenset({"sampling"}))

    assert asyncio.run(bench.perform()) == fail("MISSING_CAPABILITY", details={"requiredCapabilities": {"sampling": {}}})
    assert isinstance(asyncio.run(bench.perform(capabilities=frozenset({"sampling"}))), Done)


class Odd(BaseException):
    """Not even an Exception."""


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


@pytest.mark.clause("S6")
@pytest.mark.parametrize(
    "thrown",
    [ValueError("password=hunter2"), SystemExit(3), KeyboardInterrupt(), Odd(), Unspeakable(), asyncio.CancelledError(),
     TimeoutError("their own"), StopAsyncIteration(), RecursionError(), MemoryError()],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_whatever_a_handler_raises_becomes_one_failure(executor: DaemonThreads, thrown: BaseException) -> None:
    async def boom(_arguments: object, _context: object) -> None:
        raise thrown

    bench = Bench(boom, executor)

    outcome = asyncio.run(bench.perform())

    assert code_of(outcome) == "TOOL_FAILED"
    assert isinstance(outcome, Failure)
    assert "hunter2" not in outcome.text + str(dict(outcome.details))
    assert bench.running == 0


def test_a_plain_function_runs_off_the_event_loop_and_is_contained_too(executor: DaemonThreads) -> None:
    threads: list[str] = []

    def handler(arguments: dict[str, Any], _context: object) -> dict[str, Any]:
        threads.append(threading.current_thread().name)
        if arguments["n"] == 2:
            raise SystemExit
        return {"n": 1}

    bench = Bench(handler, executor)

    assert isinstance(asyncio.run(bench.perform()), Done)
    assert code_of(asyncio.run(bench.perform({"n": 2}))) == "TOOL_FAILED"
    assert threading.main_thread().name not in threads


@pytest.mark.parametrize("is_async", [True, False])
def test_what_a_handler_raises_does_not_keep_the_arguments_of_its_call(executor: DaemonThreads, is_async: bool) -> None:
    """A reference cycle would keep them until the garbage collector runs, however large they are."""

    class Large(dict[str, int]):
        """A mapping that can be referred to weakly."""

    def refuse(arguments: dict[str, Any], _context: object) -> dict[str, Any]:
        raise Refused(fail("CONFLICT"))  # not logged: pytest keeps what is

    async def refuse_async(arguments: dict[str, Any], context: object) -> dict[str, Any]:
        return refuse(arguments, context)

    async def perform() -> weakref.ref[Large]:
        arguments = Large(n=1)
        await bench.perform(arguments)
        return weakref.ref(arguments)

    bench = Bench(refuse_async if is_async else refuse, executor)
    gc.collect()
    gc.disable()
    try:
        kept, deadline = asyncio.run(perform()), time.monotonic() + PATIENCE
        while kept() is not None and time.monotonic() < deadline:
            time.sleep(0.001)  # the thread of a plain function forgets its job after the call is answered
        is_kept = kept() is not None
    finally:
        gc.enable()

    assert not is_kept


def test_a_refusal_of_the_handler_is_passed_on_as_it_is(executor: DaemonThreads) -> None:
    failure = fail("FILE_NOT_FOUND", details={"path": "x"})

    async def handler(_arguments: object, _context: object) -> None:
        raise Refused(failure)

    assert asyncio.run(Bench(handler, executor).perform()) is failure


def test_a_question_becomes_an_asking(executor: DaemonThreads) -> None:
    ask = {"k": Ask(method="roots/list", params={})}

    async def handler(_arguments: object, context: PlainContext) -> None:
        await context.ask(ask)

    assert asyncio.run(Bench(handler, executor).perform()) == Asking(questions=ask)


def test_past_the_time_limit_the_answer_is_a_timeout(executor: DaemonThreads) -> None:
    async def handler(_arguments: object, _context: object) -> None:
        await asyncio.Event().wait()

    bench = Bench(handler, executor, caps=Caps(timeout_ms=20))

    assert asyncio.run(bench.perform()) == fail("TIMEOUT", details={"timeoutMs": 20, "tool": "t"})
    assert bench.running == 0


def test_a_late_thread_has_no_effect_and_keeps_its_place_until_it_ends(executor: DaemonThreads) -> None:
    release, ended = threading.Event(), threading.Event()

    def handler(_arguments: object, _context: object) -> dict[str, Any]:
        release.wait(5)
        ended.set()
        return {"n": 1}

    async def scenario() -> tuple[str, int, int]:
        outcome = await bench.perform()
        during = bench.running
        release.set()
        await asyncio.to_thread(ended.wait, 5)
        for _ in range(100):
            await asyncio.sleep(0)
            if bench.running == 0:
                break
            await asyncio.to_thread(lambda: None)
        return code_of(outcome), during, bench.running

    bench = Bench(handler, executor, caps=Caps(timeout_ms=20))

    assert asyncio.run(scenario()) == ("TIMEOUT", 1, 0)


def test_past_the_concurrency_cap_a_call_is_refused_at_once(executor: DaemonThreads) -> None:
    async def scenario() -> list[str]:
        gate = asyncio.Event()

        async def handler(_arguments: object, _context: object) -> dict[str, int]:
            await gate.wait()
            return {"n": 1}

        bench = Bench(handler, executor, caps=Caps(concurrency=2))
        running = [asyncio.create_task(bench.perform()) for _ in range(2)]
        await asyncio.sleep(0)
        refused = await bench.perform()
        gate.set()
        kinds = [type(each).__name__ for each in await asyncio.gather(*running)]
        return [code_of(refused), *kinds, str(bench.running)]

    assert asyncio.run(scenario()) == ["OVERLOADED", "Done", "Done", "0"]


@pytest.mark.parametrize(
    ("returned", "reason"),
    [({"n": "x"}, "violations"), ({}, "violations"), ([1], "violations"), ({"n": 1, "z": 2}, "violations"),
     ({"n": float("nan")}, "reason"), ({"n": object()}, "reason"), ({"n": "\ud800"}, "reason"), (Answer(), "reason")],
)  # fmt: skip
def test_an_answer_that_breaks_its_promise_does_not_leave(executor: DaemonThreads, returned: object, reason: str) -> None:
    async def handler(_arguments: object, _context: object) -> object:
        return returned

    outcome = asyncio.run(Bench(handler, executor).perform())

    assert code_of(outcome) == "OUTPUT_INVALID"
    assert isinstance(outcome, Failure)
    assert reason in outcome.details


@pytest.mark.clause("S6")
def test_a_returned_ok_false_is_an_output_like_any_other(executor: DaemonThreads) -> None:
    async def handler(_arguments: object, _context: object) -> object:
        return {"ok": False}

    assert code_of(asyncio.run(Bench(handler, executor).perform())) == "OUTPUT_INVALID"


def test_an_answer_past_its_size_cap_is_refused(executor: DaemonThreads) -> None:
    async def handler(_arguments: object, _context: object) -> object:
        return "x" * 100

    outcome = asyncio.run(Bench(handler, executor, output_schema=None, caps=Caps(response_bytes=50)).perform())

    assert outcome == fail("CAP_EXCEEDED", details={"limitBytes": 50})


@pytest.mark.parametrize(
    ("returned", "done"),
    [
        (None, Done(value=None, raw=b"{}", structured=False)),
        ("hi", Done(value=None, raw=b'"hi"', content=({"type": "text", "text": "hi"},), structured=False)),
        ({"a": 1}, Done(value={"a": 1}, raw=b'{"a":1}')),
        ([1], Done(value=None, raw=b"[1]", content=({"type": "text", "text": "[1]"},), structured=False)),
    ],
    ids=str,
)
def test_without_an_output_schema_text_is_content_and_an_object_is_structured(
    executor: DaemonThreads, returned: object, done: Done
) -> None:
    async def handler(_arguments: object, _context: object) -> object:
        return returned

    assert asyncio.run(Bench(handler, executor, output_schema=None).perform()) == done


@pytest.mark.clause("S7")
def test_if_the_record_cannot_be_kept_the_caller_is_told_instead_of_answered(executor: DaemonThreads) -> None:
    bench = Bench(echo, executor)
    bench.recorder.failure = fail("AUDIT_UNAVAILABLE")

    assert code_of(asyncio.run(bench.perform())) == "AUDIT_UNAVAILABLE"


@pytest.mark.clause("S7")
def test_a_tool_with_effects_does_not_run_without_its_intent_record(executor: DaemonThreads) -> None:
    ran: list[bool] = []

    async def handler(_arguments: object, _context: object) -> dict[str, int]:
        ran.append(True)
        return {"n": 1}

    bench = Bench(handler, executor, safety=Safety.MUTATING)
    asyncio.run(bench.perform())
    bench.recorder.failure = fail("AUDIT_UNAVAILABLE")
    outcome = asyncio.run(bench.perform())

    assert [each["kind"] for each in bench.recorder.records] == ["intent", "outcome"]
    assert (code_of(outcome), ran) == ("AUDIT_UNAVAILABLE", [True])


@pytest.mark.clause("S8")
def test_a_failure_record_holds_the_facts_and_the_envelope_as_sent(executor: DaemonThreads) -> None:
    async def handler(_arguments: object, _context: object) -> None:
        raise Refused(fail("INVARIANT_VIOLATION", invariant_id="AUDIT_CHAIN", cause={"message": "m"}))

    bench = Bench(handler, executor)
    asyncio.run(bench.perform())
    record = bench.recorder.records[0]

    assert [record[name] for name in ("kind", "tool_name", "error_code", "invariant_id")] == [
        "call",
        "t",
        "INVARIANT_VIOLATION",
        "AUDIT_CHAIN",
    ]
    assert [record[name] for name in ("cause", "envelope", "timestamp")] == [
        {"message": "m"},
        "sent",
        "2026-01-01T00:00:00.000Z",
    ]


def test_a_cancelled_call_is_recorded_and_has_no_answer(executor: DaemonThreads) -> None:
    async def scenario(bench: Bench) -> None:
        task = asyncio.create_task(bench.perform())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    async def handler(_arguments: object, _context: object) -> None:
        await asyncio.Event().wait()

    bench = Bench(handler, executor)
    asyncio.run(scenario(bench))

    assert [each["error_code"] for each in bench.recorder.records] == ["CANCELLED"]
    assert bench.running == 0


def test_a_template_takes_uris_of_its_shape(executor: DaemonThreads) -> None:
    from strictwire.contract.tool import ResourceContract

    async def handler(arguments: dict[str, Any], _context: object) -> dict[str, Any]:
        return {"uri": arguments["uri"]}

    offers = Offers().with_resource(ResourceContract(uri="x://a/{id}/b", name="n"), handler)

    assert isinstance(offers.find(Kind.RESOURCE, "x://a/5/b"), CompiledTool)
    assert offers.find(Kind.RESOURCE, "x://a/5/6/b") == fail("RESOURCE_NOT_FOUND", details={"uri": "x://a/5/6/b"})
    assert offers.find(Kind.RESOURCE, "x://a//b") == fail("RESOURCE_NOT_FOUND", details={"uri": "x://a//b"})


def test_an_answer_with_a_memo_is_checked_and_rendered_once_for_each_tool(executor: DaemonThreads) -> None:
    answer = Answer(structured={"n": 1}, memo=Memo())
    first, other = Bench(lambda *_: answer, executor), Bench(lambda *_: answer, executor, output_schema={"type": "array"})

    done = asyncio.run(first.perform())

    assert done == Done(value={"n": 1}, raw=b'{"n":1}')
    assert asyncio.run(first.perform()) is done
    assert code_of(asyncio.run(other.perform())) == "OUTPUT_INVALID"


def test_an_answer_that_breaks_its_schema_is_refused_every_time(executor: DaemonThreads) -> None:
    answer = Answer(structured={"n": "one"}, memo=Memo())
    bench = Bench(lambda *_: answer, executor)

    assert [code_of(asyncio.run(bench.perform())) for _ in range(2)] == ["OUTPUT_INVALID"] * 2

"""Tasks: calls that outlive their request, are watched, answered and cancelled by id, and are kept until they expire."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from strictwire import Context, Server, TaskPolicy
from strictwire.canon.json import JsonObject, parse_object, render
from strictwire.fault.failure import fail
from strictwire.pipeline.call import Caller
from strictwire.pipeline.clock import FIXED_TIME, deterministic_clock
from strictwire.profiles.endpoint import Inbound, Outlet, Silent
from strictwire.profiles.mcp.endpoint import McpEndpoint
from strictwire.profiles.mcp.own import OwnBackend
from strictwire.profiles.mcp.task_store import MemoryTaskStore, TaskLimits
from strictwire.server.compose import open_runtime
from strictwire.settings.model import Settings
from strictwire.stores.memory.recorder import MemoryRecorder
from strictwire.transport.memory import MemoryOutlet, ask_endpoint

EXTENSION = "io.modelcontextprotocol/tasks"
ABLE: JsonObject = {"elicitation": {}, "extensions": {EXTENSION: {}}}
SERVER = {"io.modelcontextprotocol/serverInfo": {"name": "jobs", "version": "1.0.0"}}
CREATED = "2026-01-01T00:00:00.000Z"
PATIENCE = 20.0
IDS = itertools.count(1)


class Jobs:
    """A server whose handlers wait until a test lets them go on."""

    def __init__(self) -> None:
        self.go = asyncio.Event()
        self.cancelled = asyncio.Event()
        self.started = asyncio.Event()
        self.seconds = 0.0
        """How far the clock has moved."""
        self.server = Server("jobs", version="1.0.0")
        self._declare()
        self._declare_asking()

    def _declare(self) -> None:
        tool = self.server.tool

        @tool(safety="read-only")
        async def plain() -> str:
            """Never a task."""
            return "plain"

        @tool(safety="read-only", task="optional")
        async def count(to: int, ctx: Context) -> list[int]:
            """Counts as soon as it may."""
            ctx.progress(1, to, "counting")
            self.started.set()
            try:
                await self.go.wait()
            except asyncio.CancelledError:
                self.cancelled.set()
                raise
            return list(range(to))

        @tool(safety="read-only", task="optional")
        async def chatty(ctx: Context) -> None:
            """Reports progress at length."""
            ctx.progress(1.5, message="a" + " b" * 2000)
            await self.go.wait()

        @tool(safety="mutating", task="required")
        def in_thread(text: str) -> str:
            """A plain function."""
            return text.upper()

        @tool(safety="read-only", task=TaskPolicy(result_bytes=1000))
        async def large() -> str:
            """Returns more than may be kept."""
            return "x" * 2000

        @tool(safety="read-only", task=TaskPolicy(result_bytes=1000))
        async def quotes() -> dict[str, str]:
            """Returns what grows most when it is written: quotes."""
            return {"text": '"' * 494}

        @tool(safety="read-only", task=TaskPolicy(timeout_ms=1))
        async def endless() -> None:
            """Runs longer than it may."""
            await asyncio.Event().wait()

    def _declare_asking(self) -> None:
        tool = self.server.tool

        @tool(safety="read-only", task="optional")
        async def asks(ctx: Context) -> str:
            """Asks inside the task."""
            form = {"type": "object", "properties": {"n": {"type": "integer", "maximum": 9}}, "required": ["n"]}
            answer = await ctx.elicit("Which number?", form, key="number")
            return f"{answer.content['n']}"

        @tool(safety="read-only", task=TaskPolicy(start="handler"))
        async def asks_first(ctx: Context) -> str:
            """Asks, then becomes a task."""
            form = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
            answer = await ctx.elicit("Which number?", form, key="number")
            self.started.set()
            await self.go.wait()
            await ctx.start_task()
            return f"{answer.content['n']}"


class Talk:
    """Requests of one caller to one endpoint."""

    def __init__(self, endpoint: McpEndpoint, principal: str, capabilities: JsonObject) -> None:
        self._endpoint = endpoint
        self._caller = Caller(principal=principal)
        self._capabilities = capabilities

    def as_(self, principal: str) -> Talk:
        return Talk(self._endpoint, principal, self._capabilities)

    def with_(self, **capabilities: Any) -> Talk:
        return Talk(self._endpoint, self._caller.principal, capabilities)

    async def request(self, method: str, /, outlet: Outlet | None = None, **params: Any) -> JsonObject:
        """The result, or the error."""
        meta = {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": self._capabilities,
        }
        body = render({"jsonrpc": "2.0", "id": next(IDS), "method": method, "params": {**params, "_meta": meta}})
        inbound = Inbound(body=body, transport="memory", caller=self._caller)
        reply = await ask_endpoint(self._endpoint, inbound, outlet or Silent())
        answer = parse_object(reply.body or b"{}")
        return answer.get("result") or answer["error"]

    async def call(self, tool: str, /, **arguments: Any) -> JsonObject:
        return await self.request("tools/call", name=tool, arguments=arguments)

    async def get(self, task_id: str) -> JsonObject:
        return await self.request("tasks/get", taskId=task_id)

    async def settled(self, task_id: str, *statuses: str) -> JsonObject:
        """The task as soon as it has one of these statuses, or has ended."""
        while True:
            task = await self.get(task_id)
            if task["status"] in (*statuses, "completed", "failed", "cancelled"):
                return task
            await asyncio.sleep(0)


@asynccontextmanager
async def talking(
    jobs: Jobs, *, limits: TaskLimits | None = None, recorder: MemoryRecorder | None = None, prefix: str = ""
) -> AsyncIterator[Talk]:
    kept = recorder or MemoryRecorder()
    async with (
        asyncio.timeout(PATIENCE),
        open_runtime(jobs.server, Settings(), deterministic=True, recorder=kept) as runtime,
    ):
        clock = replace(deterministic_clock(), now=lambda: FIXED_TIME + jobs.seconds)
        core = replace(runtime.core, clock=clock, task_store=MemoryTaskStore(limits))
        endpoint = McpEndpoint(OwnBackend(core, task_prefix=prefix))
        yield Talk(endpoint, "ann", ABLE)
        await endpoint.close()


def run(act: Callable[[Jobs], Any]) -> Any:
    async def main() -> Any:
        return await act(Jobs())

    return asyncio.run(main())


def kinds(recorder: MemoryRecorder) -> list[tuple[Any, ...]]:
    return [(each["kind"], each["tool_name"], each.get("outcome"), each.get("error_code")) for each in recorder.records]


def test_a_call_becomes_a_task_that_ends_with_the_result() -> None:
    async def act(jobs: Jobs) -> None:
        async with talking(jobs) as client:
            created = await client.call("count", to=3)
            task_id = created.pop("taskId")
            working = await client.get(task_id)
            jobs.seconds = 5
            jobs.go.set()
            ended = await client.settled(task_id)

        base = {"taskId": task_id, "createdAt": CREATED, "ttlMs": 4_200_000, "pollIntervalMs": 1000, "_meta": SERVER}
        assert created | {"taskId": task_id} == {
            **base, "resultType": "task", "status": "working", "lastUpdatedAt": CREATED,
        }  # fmt: skip
        assert working == {
            **base,
            "resultType": "complete",
            "status": "working",
            "statusMessage": "1 of 3: counting",
            "lastUpdatedAt": CREATED,
        }
        assert ended == {
            **working,
            "status": "completed",
            "lastUpdatedAt": "2026-01-01T00:00:05.000Z",
            "result": {
                "content": [{"type": "text", "text": '{"result":[0,1,2]}'}],
                "structuredContent": {"result": [0, 1, 2]},
                "resultType": "complete",
            },
        }

    run(act)


def test_a_plain_function_runs_as_a_task_in_its_thread() -> None:
    async def act(jobs: Jobs) -> JsonObject:
        async with talking(jobs) as client:
            return await client.settled((await client.call("in_thread", text="abc"))["taskId"])

    assert run(act)["result"]["content"] == [{"type": "text", "text": "ABC"}]


def test_without_the_extension_a_call_is_plain_or_refused() -> None:
    async def act(jobs: Jobs) -> Any:
        jobs.go.set()
        async with talking(jobs) as client:
            other = client.with_(extensions={"other/extension": {}})
            return [
                await other.call("count", to=1),
                await other.call("in_thread", text="abc"),
                await other.request("tasks/get", taskId="x"),
                await client.call("plain"),
            ]

    plain, required, method, never = run(act)
    needed = {"requiredCapabilities": {"extensions": {EXTENSION: {}}}}
    assert (plain["resultType"], plain["structuredContent"]) == ("complete", {"result": [0]})
    assert (required["code"], required["data"]["requiredCapabilities"]) == (-32021, needed["requiredCapabilities"])
    assert (method["code"], method["data"]["requiredCapabilities"]) == (-32021, needed["requiredCapabilities"])
    assert (never["resultType"], never["content"]) == ("complete", [{"type": "text", "text": "plain"}])


def test_the_extension_exists_only_if_a_tool_uses_it() -> None:
    async def act(jobs: Jobs) -> Any:
        async with talking(jobs) as client:
            before = await client.request("server/discover")
            for name in ("count", "chatty", "in_thread", "large", "quotes", "endless", "asks", "asks_first"):
                jobs.server.remove_tool(name)
            return before, await client.request("server/discover"), await client.request("tasks/get", taskId="x")

    before, after, method = run(act)
    assert before["capabilities"]["extensions"] == {EXTENSION: {}}
    assert "extensions" not in after["capabilities"]
    assert method["code"] == -32601


def test_a_task_is_recorded_when_it_begins_and_when_it_ends_even_if_it_is_read_only() -> None:
    recorder, plain_recorder = MemoryRecorder(), MemoryRecorder()

    async def act(jobs: Jobs) -> None:
        async with talking(jobs, recorder=recorder) as client:
            created = await client.call("count", to=3)
            begun = kinds(recorder)
            jobs.go.set()
            await client.settled(created["taskId"])
        async with talking(jobs, recorder=plain_recorder) as client:
            await client.with_().call("count", to=3)
        assert begun == [("intent", "count", None, None)]

    run(act)
    assert kinds(recorder) == [("intent", "count", None, None), ("outcome", "count", "ok", None)]
    assert recorder.records[0]["call_id"] == recorder.records[1]["call_id"]
    assert recorder.records[1]["result_digest"] == plain_recorder.records[0]["result_digest"]


def test_cancelling_ends_the_handler_and_is_recorded() -> None:
    recorder = MemoryRecorder()

    async def act(jobs: Jobs) -> Any:
        async with talking(jobs, recorder=recorder) as client:
            task_id = (await client.call("count", to=3))["taskId"]
            acknowledged = await client.request("tasks/cancel", taskId=task_id)
            task = await client.get(task_id)
            await jobs.cancelled.wait()
            again = await client.request("tasks/cancel", taskId=task_id)
            return acknowledged, again, task["status"], "result" in task

    acknowledged, again, status, has_result = run(act)
    assert acknowledged == again == {"resultType": "complete", "_meta": SERVER}
    assert (status, has_result) == ("cancelled", False)
    assert kinds(recorder) == [("intent", "count", None, None), ("outcome", "count", "error", "CANCELLED")]


def test_shutdown_ends_tasks_and_records_them() -> None:
    recorder = MemoryRecorder()

    async def act(jobs: Jobs) -> None:
        async with talking(jobs, recorder=recorder) as client:
            await client.call("count", to=3)
            await client.call("asks")
        await jobs.cancelled.wait()

    run(act)
    assert sorted(kinds(recorder)[2:]) == [
        ("outcome", "asks", "error", "CANCELLED"), ("outcome", "count", "error", "CANCELLED"),
    ]  # fmt: skip


def test_without_a_record_of_its_beginning_there_is_no_task() -> None:
    recorder = MemoryRecorder()

    async def act(jobs: Jobs) -> Any:
        async with talking(jobs, recorder=recorder) as client:
            recorder.failure = fail("SELF_AUDIT_FAILURE")
            refused = await client.call("count", to=3)
            return refused, jobs.started.is_set()

    refused, started = run(act)
    assert (refused["isError"], refused["structuredContent"]["error"]["code"]) == (True, "SELF_AUDIT_FAILURE")
    assert started is False


def test_arguments_that_do_not_conform_are_answered_at_once() -> None:
    async def act(jobs: Jobs) -> JsonObject:
        async with talking(jobs) as client:
            return await client.call("count", to="x")

    answer = run(act)
    assert (answer["resultType"], answer["structuredContent"]["error"]["code"]) == ("complete", "INVALID_PARAMS")


@pytest.mark.parametrize(
    ("tool", "code"), [("large", "CAP_EXCEEDED"), ("endless", "TIMEOUT")], ids=["too large", "too long"]
)
def test_a_task_that_exceeds_a_limit_of_its_policy_completes_with_a_failure(tool: str, code: str) -> None:
    async def act(jobs: Jobs) -> JsonObject:
        async with talking(jobs) as client:
            return await client.settled((await client.call(tool))["taskId"])

    task = run(act)
    assert (task["status"], task["result"]["isError"]) == ("completed", True)
    assert task["result"]["structuredContent"]["error"]["code"] == code


def test_the_memory_that_is_reserved_is_enough_for_the_longest_result() -> None:
    async def act(jobs: Jobs) -> JsonObject:
        async with talking(jobs) as client:
            return await client.settled((await client.call("quotes"))["taskId"])

    result = run(act)["result"]
    assert len(render(result["structuredContent"])) == 999
    frame = b'{"content":[{"type":"text","text":""}],"structuredContent":,"resultType":"complete"}'
    assert 2900 < len(render(result)) - len(frame) < 3000


def test_an_error_of_the_protocol_fails_the_task() -> None:
    async def act(jobs: Jobs) -> JsonObject:
        async with talking(jobs) as client:
            unable = client.with_(extensions={EXTENSION: {}})
            return await unable.settled((await unable.call("asks"))["taskId"])

    task = run(act)
    assert (task["status"], task["error"]["code"], "result" in task) == ("failed", -32021, False)


@pytest.mark.parametrize("method", ["tasks/get", "tasks/update", "tasks/cancel"])
def test_a_task_belongs_to_its_caller(method: str) -> None:
    async def act(jobs: Jobs) -> Any:
        async with talking(jobs) as client:
            task_id = (await client.call("count", to=3))["taskId"]
            refused = await client.as_("bob").request(method, taskId=task_id, inputResponses={})
            unknown = await client.request(method, taskId="no such task", inputResponses={})
            return refused, unknown, (await client.get(task_id))["status"]

    refused, unknown, status = run(act)
    assert refused == unknown
    assert (refused["code"], refused["data"]["code"], status) == (-32602, "TASK_UNKNOWN", "working")


def test_a_status_message_is_short() -> None:
    async def act(jobs: Jobs) -> str:
        async with talking(jobs) as client:
            return str((await client.get((await client.call("chatty"))["taskId"]))["statusMessage"])

    message = run(act)
    assert (message[:6], len(message)) == ("1.5: a", 500)


def test_ids_cannot_be_guessed_and_name_their_worker() -> None:
    async def act(jobs: Jobs) -> list[str]:
        async with talking(jobs, prefix="3.") as client:
            return [(await client.call("count", to=3))["taskId"] for _ in range(20)]

    ids = run(act)
    assert len(set(ids)) == 20
    assert {(each[:2], len(each)) for each in ids} == {("3.", 34)}


def test_a_result_is_kept_until_it_expires_and_then_forgotten() -> None:
    async def act(jobs: Jobs) -> Any:
        jobs.go.set()
        async with talking(jobs) as client:
            task_id = (await client.call("count", to=3))["taskId"]
            await client.settled(task_id)
            jobs.seconds = 4199
            kept = await client.get(task_id)
            jobs.seconds = 4200
            return kept["status"], (await client.get(task_id))["data"]["code"]

    assert run(act) == ("completed", "TASK_UNKNOWN")


def test_a_task_that_waits_for_an_answer_until_it_expires_is_ended() -> None:
    recorder = MemoryRecorder()

    async def act(jobs: Jobs) -> Any:
        async with talking(jobs, recorder=recorder) as client:
            task_id = (await client.call("count", to=3))["taskId"]
            jobs.seconds = 4200
            gone = await client.get(task_id)
            await jobs.cancelled.wait()
            return gone["data"]["code"]

    assert run(act) == "TASK_UNKNOWN"
    assert kinds(recorder)[-1] == ("outcome", "count", "error", "CANCELLED")


@pytest.mark.parametrize(
    ("limits", "allowed"),
    [
        (TaskLimits(total=2), {"ann": 2, "bob": 0}),
        (TaskLimits(per_principal=2), {"ann": 2, "bob": 2}),
        (TaskLimits(result_bytes=3 * 192 * 1024), {"ann": 3, "bob": 0}),
    ],
    ids=["total", "per principal", "bytes"],
)
def test_past_a_limit_no_task_begins_until_another_expires(limits: TaskLimits, allowed: dict[str, int]) -> None:
    async def act(jobs: Jobs) -> None:
        jobs.go.set()
        async with talking(jobs, limits=limits) as client:
            for principal, count in allowed.items():
                answers = [await client.as_(principal).call("count", to=3) for _ in range(4)]
                refused = [each["structuredContent"]["error"] for each in answers if "taskId" not in each]
                assert len(answers) - len(refused) == count
                assert {(each["code"], each["details"]["reason"]) for each in refused} == {("OVERLOADED", "tasks")}
            jobs.seconds = 4200
            assert "taskId" in await client.call("count", to=3)

    run(act)


def answered(n: object) -> JsonObject:
    return {"action": "accept", "content": {"n": n}}


def test_a_question_of_a_task_is_answered_by_update() -> None:
    async def act(jobs: Jobs) -> Any:
        async with talking(jobs) as client:
            task_id = (await client.call("asks"))["taskId"]
            asked = await client.settled(task_id, "input_required")
            ignored = await client.request("tasks/update", taskId=task_id, inputResponses={"unknown": answered(1)})
            still = await client.get(task_id)
            [key] = asked["inputRequests"]
            await client.request("tasks/update", taskId=task_id, inputResponses={key: answered(7)})
            return asked, ignored, still["status"], await client.settled(task_id)

    asked, ignored, still, ended = run(act)
    [question] = asked["inputRequests"].values()
    assert (asked["status"], question["method"], question["params"]["message"]) == (
        "input_required", "elicitation/create", "Which number?",
    )  # fmt: skip
    assert (ignored, still) == ({"resultType": "complete", "_meta": SERVER}, "input_required")
    assert ended["result"]["content"] == [{"type": "text", "text": "7"}]


def test_a_wrong_answer_is_asked_for_again_under_a_new_key_and_three_fail_the_task() -> None:
    async def act(jobs: Jobs) -> Any:
        async with talking(jobs) as client:
            task_id = (await client.call("asks"))["taskId"]
            asked = {}
            task = await client.settled(task_id, "input_required")
            while task["status"] == "input_required":
                [(key, question)] = task["inputRequests"].items()
                asked[key] = question["params"]["message"]
                await client.request("tasks/update", taskId=task_id, inputResponses={key: answered(10)})
                task = await client.settled(task_id, "input_required")
            return asked, task

    asked, task = run(act)
    again = "Which number?\n\nThe last answer was not accepted: n must be at most 9."
    assert list(asked.values()) == ["Which number?", again, again]
    assert task["result"]["structuredContent"]["error"]["code"] == "ANSWER_INVALID"


@pytest.mark.parametrize("params", [{}, {"inputResponses": None}, {"inputResponses": []}])
def test_an_update_needs_answers(params: JsonObject) -> None:
    async def act(jobs: Jobs) -> JsonObject:
        async with talking(jobs) as client:
            task_id = (await client.call("asks"))["taskId"]
            return await client.request("tasks/update", taskId=task_id, **params)

    assert (error := run(act))["code"] == -32602
    assert error["data"]["details"] == {"parameter": "inputResponses"}


def test_questions_before_the_task_are_questions_of_the_call() -> None:
    async def act(jobs: Jobs) -> Any:
        jobs.go.set()
        async with talking(jobs) as client:
            first = await client.call("asks_first")
            more = {"inputResponses": {"number": answered(5)}, "requestState": first["requestState"]}
            second = await client.request("tools/call", name="asks_first", arguments={}, **more)
            return first, second, await client.settled(second["taskId"])

    first, second, ended = run(act)
    assert (first["resultType"], list(first["inputRequests"]), "taskId" in first) == ("input_required", ["number"], False)
    assert (second["resultType"], "requestState" in second) == ("task", False)
    assert ended["result"]["content"] == [{"type": "text", "text": "5"}]


def test_a_request_that_is_cancelled_before_its_task_begins_leaves_none() -> None:
    recorder = MemoryRecorder()

    async def act(jobs: Jobs) -> None:
        async with talking(jobs, recorder=recorder) as client:
            given = {"name": "asks_first", "arguments": {}, "inputResponses": {"number": answered(5)}}
            waiting = asyncio.create_task(client.request("tools/call", **given))
            await jobs.started.wait()
            waiting.cancel()
            await asyncio.wait([waiting])
            jobs.go.set()

    run(act)
    assert kinds(recorder) == [("intent", "asks_first", None, None), ("outcome", "asks_first", "error", "CANCELLED")]


def test_a_subscription_is_notified_of_every_change_of_its_tasks_and_of_no_other() -> None:
    async def act(jobs: Jobs) -> Any:
        async with talking(jobs) as client:
            own, other = (await client.call("asks"))["taskId"], (await client.call("count", to=1))["taskId"]
            foreign = (await client.as_("bob").call("count", to=1))["taskId"]
            await client.settled(own, "input_required")
            messages: list[dict[str, Any]] = []
            outlet = MemoryOutlet(lambda message: messages.append(parse_object(message)))
            wanted = {"taskIds": [own, foreign, "unknown", 5]}
            listening = asyncio.create_task(client.request("subscriptions/listen", outlet=outlet, notifications=wanted))
            while len(messages) < 2:
                await asyncio.sleep(0)
            [key] = messages[1]["params"]["inputRequests"]
            await client.request("tasks/update", taskId=own, inputResponses={key: answered(7)})
            await client.settled(own)
            jobs.go.set()
            await client.settled(other)
            listening.cancel()
            await asyncio.wait([listening])
            return own, messages

    own, [acknowledged, *changes] = run(act)
    mark = acknowledged["params"]["_meta"]
    assert acknowledged["params"]["notifications"] == {"taskIds": [own]}
    assert [(each["method"], each["params"]["taskId"], each["params"]["_meta"]) for each in changes] == [
        ("notifications/tasks", own, mark)
    ] * 3
    assert [each["params"]["status"] for each in changes] == ["input_required", "working", "completed"]
    assert changes[-1]["params"]["result"]["content"] == [{"type": "text", "text": "7"}]


def test_a_client_without_the_extension_subscribes_to_no_task() -> None:
    async def act(jobs: Jobs) -> Any:
        async with talking(jobs) as client:
            task_id = (await client.call("count", to=1))["taskId"]
            messages: list[dict[str, Any]] = []
            outlet = MemoryOutlet(lambda message: messages.append(parse_object(message)))
            given = {"notifications": {"taskIds": [task_id]}}
            listening = asyncio.create_task(client.with_().request("subscriptions/listen", outlet=outlet, **given))
            while not messages:
                await asyncio.sleep(0)
            listening.cancel()
            await asyncio.wait([listening])
            return messages

    assert [each["params"]["notifications"] for each in run(act)] == [{}]

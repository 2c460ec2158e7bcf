"""The public client with a server in memory: the same API and the same path as over a transport."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

import pytest

from strictwire import (
    Client,
    ClientError,
    Context,
    Elicitation,
    Http,
    InMemory,
    LogMessage,
    NotFound,
    Progress,
    Server,
    ToolFailed,
)
from strictwire.client.errors import RequestFailed, TimedOut
from strictwire.client.questions import InvalidAnswer
from strictwire.pipeline.call import Caller
from strictwire.stores.memory.recorder import MemoryRecorder

T = TypeVar("T")
Era = Literal["modern", "legacy"]
eras = pytest.mark.parametrize("era", ["modern", "legacy"])
FORM = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


@dataclass
class Day:
    date: dt.date
    hours: int


def made() -> Server:
    server = Server("notes", version="2", instructions="Be kind.")

    @server.tool(safety="read-only")
    async def add(a: int, b: int, ctx: Context) -> int:
        """Adds."""
        for step in (1, 2):
            ctx.progress(step, 2, f"step {step}")
        ctx.log("warning", {"a": a})
        return a + b

    @server.tool(safety="read-only")
    def next_day(date: dt.date) -> Day:
        """The day after."""
        return Day(date + dt.timedelta(days=1), 24)

    @server.tool()
    def broken() -> str:
        """Fails with a bug."""
        raise KeyError("secret-7")

    @server.tool()
    def missing() -> str:
        """Fails on purpose."""
        raise NotFound("note 7", details={"id": 7})

    @server.tool()
    async def ask(ctx: Context) -> str:
        """Asks the user."""
        answer = await ctx.elicit("Your name?", FORM)
        return f"{answer.action} {answer.content}"

    @server.tool()
    async def wait() -> str:
        """Waits for ever."""
        await asyncio.sleep(3600)
        return "never"

    @server.resource("notes://{number}")
    def note(number: int) -> str:
        """A note."""
        return f"note {number}"

    @server.prompt
    def greet(name: str) -> str:
        """Greets."""
        return f"Hello {name}"

    return server


def use(act: Callable[[Client], Awaitable[T]], target: Any = None, **options: Any) -> T:
    """Connect to a server in memory and run `act`."""

    async def main() -> T:
        async with asyncio.timeout(20), Client(target or made(), **options) as client:
            return await act(client)

    return asyncio.run(main())


@eras
def test_what_the_server_offers(era: Era) -> None:
    async def act(client: Client) -> dict[str, Any]:
        return {
            "server": (client.server.name, client.server.version, client.server.instructions),
            "version": client.protocol_version,
            "tools": [(tool.name, tool.safety.value) for tool in await client.list_tools()][:3],
            "templates": [each.uri_template for each in await client.list_resource_templates()],
            "prompts": [(each.name, [one.name for one in each.arguments]) for each in await client.list_prompts()],
            "note": (await client.read_resource("notes://4")).text,
            "capabilities": sorted(set(client.capabilities) & {"tools", "prompts"}),
        }

    assert use(act, era=era) == {
        "server": ("notes", "2", "Be kind."),
        "version": "2026-07-28" if era == "modern" else "2025-11-25",
        "tools": [("add", "read-only"), ("next_day", "read-only"), ("broken", "undeclared")],
        "templates": ["notes://{number}"],
        "prompts": [("greet", ["name"])],
        "note": "note 4",
        "capabilities": ["prompts", "tools"],
    }


@eras
def test_a_call_has_content_structured_content_progress_and_log_messages(era: Era) -> None:
    logs: list[LogMessage] = []
    progress: list[Progress] = []

    async def note_progress(each: Progress) -> None:
        await asyncio.sleep(0)
        progress.append(each)

    async def act(client: Client) -> tuple[Any, str]:
        result = await client.call_tool("add", {"a": 1, "b": 2}, on_progress=note_progress)
        return result.structured, result.text

    assert use(act, era=era, on_log=logs.append) == ({"result": 3}, '{"result":3}')
    assert progress == [Progress(progress=each, total=2, message=f"step {each}") for each in (1, 2)]
    assert logs == [LogMessage(level="warning", data={"a": 1})]


def test_arguments_and_results_are_typed() -> None:
    async def act(client: Client) -> tuple[int, Day]:
        total = await client.call_tool("add", {"a": 1, "b": 2}, returns=int)
        return total, await client.call_tool("next_day", {"date": dt.date(2026, 7, 27)}, returns=Day)

    assert use(act) == (3, Day(dt.date(2026, 7, 28), 24))


@eras
def test_a_failed_tool_raises_with_what_a_program_needs(era: Era) -> None:
    async def act(client: Client) -> ToolFailed:
        with pytest.raises(ToolFailed) as caught:
            await client.call_tool("missing")
        return caught.value

    failed = use(act, era=era)

    assert (failed.failure.code, failed.failure.retryable, dict(failed.failure.details)) == ("NOT_FOUND", False, {"id": 7})
    assert failed.action == "Check the name or the location."
    assert str(failed) == "missing: NOT_FOUND: Not found: note 7"


def test_a_refused_request_raises_with_its_number() -> None:
    async def act(client: Client) -> RequestFailed:
        with pytest.raises(RequestFailed) as caught:
            await client.call_tool("nope")
        return caught.value

    refused = use(act)

    assert (type(refused), refused.number, refused.failure.code) == (RequestFailed, -32602, "UNKNOWN_TOOL")


@eras
def test_what_a_handler_raised_is_raised_on_demand(era: Era) -> None:
    async def act(client: Client) -> list[BaseException]:
        found: list[BaseException] = []
        for tool in ("broken", "missing"):
            with pytest.raises((KeyError, NotFound)) as caught:
                await client.call_tool(tool)
            found.append(caught.value)
        assert await client.call_tool("add", {"a": 1, "b": 2}, returns=int) == 3
        return found

    broken, missing = use(act, InMemory(made(), raise_handler_errors=True), era=era)

    assert (repr(broken), str(missing)) == ("KeyError('secret-7')", "Not found: note 7")
    assert broken.__traceback__ is not None


@eras
def test_by_default_no_text_of_an_exception_reaches_the_client(era: Era) -> None:
    async def act(client: Client) -> str:
        with pytest.raises(ToolFailed) as caught:
            await client.call_tool("broken")
        return f"{caught.value} {caught.value.result} {caught.value.failure}"

    assert "secret-7" not in use(act, era=era)


def test_the_caller_and_the_records_of_the_server_can_be_given() -> None:
    recorder = MemoryRecorder()

    async def act(client: Client) -> None:
        await client.call_tool("add", {"a": 1, "b": 2})

    use(act, InMemory(made(), caller=Caller(principal="ann"), recorder=recorder))

    assert [(record["tool_name"], record["principal"]) for record in recorder.records] == [("add", "ann")]


@pytest.mark.slow
@eras
def test_the_time_of_the_user_does_not_count(era: Era) -> None:
    async def slow_user(asked: Elicitation) -> dict[str, str]:
        assert asked.message == "Your name?"
        await asyncio.sleep(3.2)
        return {"name": "Ann"}

    async def act(client: Client) -> str:
        return (await client.call_tool("ask", timeout=3)).text

    assert use(act, era=era, on_elicit=slow_user) == "accept {'name': 'Ann'}"


@eras
def test_without_a_callback_the_server_cannot_ask(era: Era) -> None:
    async def act(client: Client) -> str:
        with pytest.raises(ClientError) as caught:
            await client.call_tool("ask")
        return caught.value.failure.code

    assert use(act, era=era) == "MISSING_CAPABILITY"


def test_an_answer_that_does_not_match_the_form_is_an_error_of_the_program() -> None:
    async def act(client: Client) -> None:
        with pytest.raises(InvalidAnswer, match=r"the content does not match the form: /name \(type\)"):
            await client.call_tool("ask")

    use(act, era="modern", on_elicit=lambda _: {"name": 7})


def test_in_the_legacy_era_the_server_gets_an_error_instead(caplog: pytest.LogCaptureFixture) -> None:
    async def act(client: Client) -> None:
        with pytest.raises(ClientError):
            await client.call_tool("ask")

    use(act, era="legacy", on_elicit=lambda _: {"name": 7})

    assert "the content does not match the form: /name (type)" in caplog.text


@eras
def test_a_call_times_out_and_the_next_one_works(era: Era) -> None:
    async def act(client: Client) -> int:
        with pytest.raises(TimedOut):
            await client.call_tool("wait", timeout=0.1)
        return await client.call_tool("add", {"a": 1, "b": 2}, returns=int)

    assert use(act, era=era) == 3


def test_a_callback_that_raises_does_not_stop_the_call(caplog: pytest.LogCaptureFixture) -> None:
    def fail(_each: Progress) -> None:
        raise ZeroDivisionError

    async def act(client: Client) -> int:
        return await client.call_tool("add", {"a": 1, "b": 2}, returns=int, on_progress=fail)

    assert use(act) == 3
    assert "ZeroDivisionError" in caplog.text


def test_a_completion_names_a_prompt_or_a_template() -> None:
    async def act(client: Client) -> None:
        with pytest.raises(ValueError, match="either prompt=NAME or template=URI_TEMPLATE"):
            await client.complete("name", "A")

    use(act)


def test_the_log_level_is_checked() -> None:
    with pytest.raises(ValueError, match="log_level: expected one of debug"):
        Client(made(), log_level="loud")

    async def act(client: Client) -> None:
        with pytest.raises(ValueError, match="expected one of debug"):
            await client.set_log_level("loud")

    use(act)


@eras
def test_the_log_level_can_be_changed(era: Era) -> None:
    logs: list[LogMessage] = []

    async def act(client: Client) -> None:
        await client.set_log_level("error")
        await client.call_tool("add", {"a": 1, "b": 2})

    use(act, era=era, on_log=logs.append)

    assert logs == []


@pytest.mark.parametrize("target", ["not-a-url", 7, None, object()])
def test_a_target_that_is_none_is_refused(target: Any) -> None:
    with pytest.raises(TypeError, match="expected"):
        Client(target)


def test_a_header_that_would_break_the_request_is_refused_without_its_value() -> None:
    async def main() -> str:
        with pytest.raises(ClientError) as caught:
            async with Client(Http("http://127.0.0.1:1/mcp", token="secret\r\nX-Evil: 1")):
                pass
        return str(caught.value)

    assert asyncio.run(main()) == "cannot reach header 'Authorization': not printable ASCII"


def test_structured_content_need_not_be_checked() -> None:
    server = Server("unchecked", version="1")

    @server.tool(output_schema={"type": "object", "properties": {"n": {"type": "integer"}}}, safety="read-only")
    def count() -> Any:
        """Counts."""
        return {"n": 1}

    async def act(client: Client) -> Any:
        return (await client.call_tool("count")).structured

    assert use(act, server, validate=False) == {"n": 1}


def test_roots_may_be_paths(tmp_path: Path) -> None:
    server = Server("roots", version="1")

    @server.tool(safety="read-only")
    async def roots(ctx: Context) -> list[str]:
        """Lists."""
        return [str(each["uri"]) for each in await ctx.roots()]

    async def act(client: Client) -> list[str]:
        return await client.call_tool("roots", returns=list[str])

    assert use(act, server, roots=[tmp_path]) == [tmp_path.as_uri()]


@eras
def test_the_lifespan_of_the_server_is_that_of_the_client(era: Era) -> None:
    steps: list[str] = []

    @asynccontextmanager
    async def lifespan(_server: Server) -> AsyncIterator[str]:
        steps.append("open")
        yield "pool"
        steps.append("closed")

    server = Server("alive", version="1", lifespan=lifespan)

    @server.tool(safety="read-only")
    def show(ctx: Context[str]) -> str:
        """Shows."""
        return ctx.lifespan

    async def act(client: Client) -> str:
        assert steps == ["open"]
        return await client.call_tool("show", returns=str)

    assert use(act, server, era=era) == "pool"
    assert steps == ["open", "closed"]


@eras
def test_a_resource_that_its_function_does_not_find_is_as_unknown_as_any_other(era: Era) -> None:
    server = Server("notes", version="1.0.0")

    class Gone(NotFound, code="notes/GONE", meaning="The note was deleted.", action="Read another note."):
        """A refinement with a code of its own."""

    @server.resource("notes://{number}")
    def note(number: int) -> str:
        """A note."""
        raise Gone if number == 8 else NotFound(f"note {number}")

    async def read(uri: str) -> RequestFailed:
        async with Client(InMemory(server), era=era) as client:
            with pytest.raises(RequestFailed) as caught:
                await client.read_resource(uri)
        return caught.value

    unknown, raised, own = (asyncio.run(read(uri)) for uri in ("other://1", "notes://7", "notes://8"))

    number = -32602 if era == "modern" else -32002
    assert [each.number for each in (unknown, raised, own)] == [number] * 3
    assert [each.failure.code for each in (unknown, raised)] == ["RESOURCE_NOT_FOUND"] * 2
    assert (raised.failure.text, raised.data) == (
        "Not found: note 7",
        {"code": "RESOURCE_NOT_FOUND", "uri": "notes://7"},
    )
    assert own.failure.shown_code == "notes/GONE"


def test_a_refused_prompt_or_resource_says_which_argument_is_wrong() -> None:
    server = Server("bikes", version="1.0.0")

    @server.prompt
    def sell(bike: int) -> str:
        return f"Sell bike {bike}."

    @server.resource("bikes://{bike}")
    def show(bike: int) -> str:
        return f"bike {bike}"

    async def refusals() -> list[str]:
        async with Client(server) as client:
            with pytest.raises(RequestFailed) as prompt:
                await client.get_prompt("sell", {})
            with pytest.raises(RequestFailed) as resource:
                await client.read_resource("bikes://x")
        return [str(prompt.value), str(resource.value)]

    invalid = "INVALID_PARAMS: Arguments do not match the input schema"
    assert asyncio.run(refusals()) == [
        f"sell: {invalid}: bike is required",
        f"bikes://x: {invalid}: bike: expected `int`, got `str`",
    ]

"""The ASGI application: lifespan, bodies, streams, and clients that go away or do not read. Over sockets: `either`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.routing import Mount

from strictwire import Context, Server
from strictwire.canon.json import parse_object
from strictwire.server.compose import open_runtime
from strictwire.settings.model import Settings
from strictwire.stores.memory.recorder import MemoryRecorder
from strictwire.transport.http.asgi import AsgiApp
from strictwire.transport.http.gatekeeper import Gatekeeper
from strictwire.transport.http.limits import HttpLimits
from strictwire.transport.http.rules import Site
from tests.fixtures.live import PATIENCE, modern, modern_headers

MAX_BODY = 10_000
Message = dict[str, Any]

server = Server("asgi", version="1")
cancelled: list[str] = []
began: list[str] = []


@server.tool(safety="read-only")
async def add(a: int, b: int) -> int:
    """Adds."""
    return a + b


@server.tool(safety="read-only")
async def hold(name: str) -> str:
    """Never returns."""
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        cancelled.append(name)
        raise
    return name


@server.tool(safety="read-only")
async def count(to: int, context: Context) -> int:
    """Reports progress without waiting, and then waits, so that the client sees it before the answer."""
    for number in range(to):
        context.progress(number + 1, message="x" * 1000)
    await asyncio.sleep(0)
    return to


released = asyncio.Event()


@server.tool(safety="read-only")
async def finish() -> str:
    """Returns when it is released."""
    began.append("finish")
    await released.wait()
    return "finished"


@asynccontextmanager
async def open_site() -> AsyncIterator[Site]:
    async with open_runtime(server, Settings(), recorder=MemoryRecorder()) as runtime:
        endpoint = runtime.endpoint("mcp")
        yield Site(endpoints={"/mcp": endpoint}, gatekeeper=Gatekeeper(), max_body=MAX_BODY)


class Client:
    """One request, as an ASGI server hands it to an application."""

    def __init__(self, body: bytes, *pieces: bytes, ends: bool = True, method: str = "POST", path: str = "/mcp") -> None:
        fields = {"Host": "localhost", "Content-Type": "application/json", **(modern_headers(body) if body else {})}
        self.scope: Message = {
            "type": "http",
            "http_version": "1.1",
            "method": method,
            "path": path,
            "raw_path": path.encode(),
            "root_path": "",
            "headers": [(name.lower().encode(), value.encode()) for name, value in fields.items()],
        }
        given = pieces or (body,)
        self.incoming: asyncio.Queue[Message] = asyncio.Queue()
        for number, piece in enumerate(given, 1):
            more = not ends or number < len(given)
            self.incoming.put_nowait({"type": "http.request", "body": piece, "more_body": more})
        self.sent: list[Message] = []
        self.reads = asyncio.Event()
        self.reads.set()

    async def send(self, message: Message) -> None:
        await self.reads.wait()
        self.sent.append(message)

    def go_away(self) -> None:
        self.incoming.put_nowait({"type": "http.disconnect"})

    @property
    def status(self) -> int:
        return int(self.sent[0]["status"])

    @property
    def body(self) -> bytes:
        return b"".join(message["body"] for message in self.sent[1:])

    @property
    def is_complete(self) -> bool:
        return bool(self.sent) and not self.sent[-1].get("more_body", True)

    async def ask(self, app: Any) -> None:
        await app(self.scope, self.incoming.get, self.send)


def driven(use: Callable[[AsgiApp], Awaitable[None]], **limits: float) -> None:
    """Run a test inside the lifespan of an application."""

    async def main() -> None:
        app = AsgiApp(open_site, HttpLimits(**limits))  # type: ignore[arg-type]
        async with asyncio.timeout(PATIENCE), app.lifespan():
            await use(app)

    asyncio.run(main())


def call(name: str, /, **arguments: Any) -> bytes:
    return modern(1, "tools/call", {"name": name, "arguments": arguments}, progressToken="t")


ADD = call("add", a=1, b=2)


def test_a_request_is_answered_with_type_and_length() -> None:
    async def use(app: AsgiApp) -> None:
        client = Client(ADD, ADD[:20], b"", ADD[20:])
        await client.ask(app)

        assert parse_object(client.body)["result"]["structuredContent"] == {"result": 3}
        assert (client.status, client.sent[0]["headers"]) == (
            200,
            [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(client.body))],
        )

    driven(use)


def test_events_are_sent_as_they_come_and_the_reply_last() -> None:
    async def use(app: AsgiApp) -> None:
        client = Client(call("count", to=3))
        await client.ask(app)
        events = [parse_object(line[6:]) for line in client.body.splitlines() if line.startswith(b"data: ")]

        assert dict(client.sent[0]["headers"])[b"content-type"] == b"text/event-stream"
        assert [each.get("params", {}).get("progress") for each in events] == [1, 2, 3, None]
        assert client.is_complete

    driven(use)


def test_a_quiet_stream_is_kept_alive() -> None:
    async def use(app: AsgiApp) -> None:
        client = Client(modern(1, "subscriptions/listen", {"notifications": {"toolsListChanged": True}}))
        asking = asyncio.create_task(client.ask(app))
        while client.body.count(b": \n\n") < 2 if client.sent else True:
            await asyncio.sleep(0.001)
        client.go_away()
        await asking

    driven(use, keep_alive_seconds=0.01)


def test_a_disconnect_cancels_in_the_stateless_era() -> None:
    async def use(app: AsgiApp) -> None:
        client = Client(call("hold", name="gone"))
        client.go_away()
        await client.ask(app)
        while "gone" not in cancelled:
            await asyncio.sleep(0)

        assert client.sent == []

    driven(use)


def test_a_client_that_goes_away_before_its_body_has_arrived_is_not_answered() -> None:
    async def use(app: AsgiApp) -> None:
        client = Client(ADD, ADD[:20], ends=False)
        client.go_away()
        await client.ask(app)

        assert client.sent == []

    driven(use)


def test_a_body_past_the_limit_is_refused_before_all_of_it_is_read() -> None:
    async def use(app: AsgiApp) -> None:
        client = Client(ADD, b" " * MAX_BODY, b" ", b"never read")
        await client.ask(app)

        assert (client.status, client.incoming.qsize()) == (413, 1)

    driven(use)


def test_a_body_that_trickles_in_is_not_waited_for() -> None:
    async def use(app: AsgiApp) -> None:
        client = Client(ADD, ADD[:20], ends=False)
        await client.ask(app)

        assert (client.status, parse_object(client.body)["detail"]) == (400, "The request did not arrive in time")

    driven(use, read_seconds=0.05)


def test_a_client_that_does_not_read_is_given_up() -> None:
    async def use(app: AsgiApp) -> None:
        client = Client(ADD)
        client.reads.clear()
        await client.ask(app)

        assert client.sent == []

    driven(use, write_seconds=0.05)


def test_a_stream_that_is_not_read_is_bounded_and_cancelled() -> None:
    async def use(app: AsgiApp) -> None:
        client = Client(call("count", to=10_000))
        client.reads.clear()
        await client.ask(app)

        assert client.sent == []

    driven(use, max_unsent=100_000, write_seconds=3600)


def test_a_server_that_says_so_by_an_exception_is_understood() -> None:
    """ASGI 2.4: `send` raises OSError once the client is gone."""

    async def use(app: AsgiApp) -> None:
        client = Client(call("count", to=3))

        async def send(_message: Message) -> None:
            raise OSError

        await app(client.scope, client.incoming.get, send)  # type: ignore[arg-type]

    driven(use)


@pytest.mark.parametrize("version", ["1", "1.0"])
def test_framing_is_judged_as_in_our_own_server(version: str) -> None:
    async def use(app: AsgiApp) -> None:
        client = Client(ADD)
        client.scope["http_version"] = version
        client.scope["headers"].append((b"transfer-encoding", b"chunked"))
        await client.ask(app)

        assert client.status == 400

    driven(use)


def test_a_head_request_has_the_length_and_no_body() -> None:
    async def use(app: AsgiApp) -> None:
        client = Client(b"", method="HEAD", path="/healthz")
        await client.ask(app)

        assert (client.status, client.body, dict(client.sent[0]["headers"])[b"content-length"]) == (200, b"", b"15")

    driven(use)


def test_a_web_socket_is_refused() -> None:
    async def use(app: AsgiApp) -> None:
        client = Client(b"")
        client.scope["type"] = "websocket"
        await client.ask(app)

        assert client.sent == [{"type": "websocket.close"}]

    driven(use)


def test_it_can_be_mounted_in_another_application() -> None:
    async def main() -> None:
        app = AsgiApp(open_site)
        whole = Starlette(routes=[Mount("/tools", app)], lifespan=app.lifespan)
        served, unknown = Client(ADD, path="/tools/mcp"), Client(ADD, path="/tools/nope")
        async with asyncio.timeout(PATIENCE), whole.router.lifespan_context(whole):
            await served.ask(whole)
            await unknown.ask(whole)

        assert (served.status, unknown.status) == (200, 404)
        assert b"PATH_UNKNOWN" in unknown.body

    asyncio.run(main())


# Lifespan.


def test_without_its_lifespan_it_says_what_to_do() -> None:
    with pytest.raises(RuntimeError, match="Turn lifespan on in the ASGI server"):
        asyncio.run(Client(ADD).ask(AsgiApp(open_site)))


def lifespan_of(open_it: Callable[[], Any]) -> list[Message]:
    """What an application answers to start-up and shut-down."""

    async def main() -> list[Message]:
        client = Client(b"", b"startup", b"shutdown")
        client.scope["type"] = "lifespan"
        async with asyncio.timeout(PATIENCE):
            await client.ask(AsgiApp(open_it))
        return client.sent

    return asyncio.run(main())


def test_start_up_and_shut_down_are_confirmed() -> None:
    assert lifespan_of(open_site) == [{"type": "lifespan.startup.complete"}, {"type": "lifespan.shutdown.complete"}]


@asynccontextmanager
async def fail_to_open() -> AsyncIterator[Site]:
    raise RuntimeError("hunter2")
    yield


def test_a_failed_start_up_is_reported(caplog: pytest.LogCaptureFixture) -> None:
    expected = [{"type": "lifespan.startup.failed", "message": "strictwire: startup failed, see the log"}]

    assert lifespan_of(fail_to_open) == expected
    assert "hunter2" in caplog.text


def test_running_calls_have_time_to_finish_at_shut_down() -> None:
    async def main() -> None:
        app, client = AsgiApp(open_site), Client(call("finish"))
        async with asyncio.timeout(PATIENCE):
            async with app.lifespan():
                asking = asyncio.create_task(client.ask(app))
                while not began:
                    await asyncio.sleep(0)
                asyncio.get_running_loop().call_soon(released.set)
            await asking

        assert parse_object(client.body)["result"]["content"] == [{"type": "text", "text": "finished"}]

    asyncio.run(main())

"""Several calls of one client share one legacy session, in which the upstream may not say which call it asks about."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from strictwire.canon.json import parse_object, render
from strictwire.client.message import Identity
from strictwire.gateway.bridges.legacy_session import BridgedSession
from strictwire.gateway.bridges.resumable_call import ResumableCall
from strictwire.gateway.links.connector import UpstreamTarget
from strictwire.gateway.links.link import Listener, NullListener, UpstreamRequest
from strictwire.gateway.links.raw_message import UpstreamAnswer
from strictwire.gateway.links.upstream import Upstream
from strictwire.wire.envelope import Notification, Request
from tests.fixtures.live import modern

CAPABILITIES = {"sampling": {}}
SAMPLED = {"role": "assistant", "content": {"type": "text", "text": "x"}}


class MethodListener(NullListener):
    """Keeps the methods of the notifications of one round."""

    def __init__(self) -> None:
        self.methods: list[str] = []

    def on_notification(self, raw: bytes, notification: Notification) -> None:
        self.methods.append(notification.method)


class ScriptedLink:
    """A link whose answers the test gives."""

    alive = True

    def __init__(self) -> None:
        self.pending: dict[object, asyncio.Future[UpstreamAnswer]] = {}
        self.sent: list[dict[str, Any]] = []

    async def request(self, request: UpstreamRequest, listener: Listener) -> UpstreamAnswer:
        self.pending[request.id] = asyncio.get_running_loop().create_future()
        return await self.pending[request.id]

    async def send(self, raw: bytes) -> None:
        self.sent.append(parse_object(raw))

    async def check_alive(self, request: UpstreamRequest, seconds: float) -> None:
        """The upstream is alive."""

    async def close(self) -> None:
        """Nothing to close."""

    def answer(self, number: str) -> None:
        self.pending[number].set_result(UpstreamAnswer(raw=b"{}", result={"of": number}))


class TwoCalls:
    """A session with two running calls."""

    def __init__(self) -> None:
        self.link = ScriptedLink()
        self.session = BridgedSession(Upstream(UpstreamTarget(command=("x",)), Identity()), lambda _change: None)
        self.session.link = self.link
        self.listeners: dict[str, MethodListener] = {"a": MethodListener(), "b": MethodListener()}
        self.calls = {name: self._call(name) for name in ("a", "b")}
        self.rounds = {name: self.resume(name) for name in ("a", "b")}

    def _call(self, number: str) -> ResumableCall:
        request = UpstreamRequest(id=number, method="tools/call", params={}, raw=b"{}")
        call = ResumableCall(self.link, request, capabilities=CAPABILITIES)
        self.session.calls.append(call)
        return call

    def resume(self, number: str, **answers: Any) -> asyncio.Task[UpstreamAnswer | None]:
        """One round of a call."""
        raw = modern(1, "tools/call", {"inputResponses": answers})
        request = UpstreamRequest(id=1, method="tools/call", params=parse_object(raw)["params"], raw=raw)
        return asyncio.create_task(self.calls[number].resume(request, self.listeners[number]))

    def ask(self, request_id: object, method: str = "sampling/createMessage") -> None:
        """The upstream asks, and does not say for which call."""
        raw = render({"jsonrpc": "2.0", "id": request_id, "method": method, "params": {"n": 1}})  # type: ignore[dict-item]
        self.session.on_request(raw, Request(request_id, method, {"n": 1}))  # type: ignore[arg-type]

    async def settle(self) -> None:
        """Let everything that is ready run."""
        for _ in range(10):
            await asyncio.sleep(0)


def with_two_calls(act: Callable[[TwoCalls], Awaitable[Any]]) -> Any:
    async def run() -> Any:
        two = TwoCalls()
        await two.settle()
        async with asyncio.timeout(20):
            try:
                return await act(two)
            finally:
                for call in two.calls.values():
                    await call.cancel()

    return asyncio.run(run())


def test_a_question_goes_to_the_latest_call_and_its_answer_is_routed_by_its_id() -> None:
    async def act(two: TwoCalls) -> list[object]:
        two.ask("Q")
        asked = await two.rounds["b"]
        again = two.resume("b", q1=SAMPLED)
        await two.settle()
        two.link.answer("b")
        done = await again
        return [asked, two.link.sent, done and done.result, two.rounds["a"].done()]

    assert with_two_calls(act) == [None, [{"jsonrpc": "2.0", "id": "Q", "result": SAMPLED}], {"of": "b"}, False]


def test_a_question_of_a_finished_call_moves_to_the_other_call() -> None:
    async def act(two: TwoCalls) -> list[object]:
        two.ask("Q")
        await two.rounds["b"]
        two.link.answer("b")
        again = two.resume("b")
        await two.settle()
        await again
        two.session.end(two.calls["b"])
        asked = await two.rounds["a"]
        return [asked, parse_object(two.calls["a"].questions)]

    assert with_two_calls(act) == [None, {"q1": {"method": "sampling/createMessage", "params": {"n": 1}}}]


def test_without_a_call_a_question_is_refused() -> None:
    async def act(two: TwoCalls) -> list[dict[str, Any]]:
        two.session.end(two.calls["a"])
        two.session.end(two.calls["b"])
        two.ask("Q")
        two.ask(7, "ping")
        await two.settle()
        return [
            {"id": each["id"], "answer": each.get("result", each.get("error", {}).get("code"))} for each in two.link.sent
        ]

    assert with_two_calls(act) == [{"id": "Q", "answer": -32601}, {"id": 7, "answer": {}}]


def test_a_log_message_reaches_a_call_only_if_no_other_call_runs() -> None:
    async def act(two: TwoCalls) -> list[list[str]]:
        logged = Notification("notifications/message", {"level": "info", "data": 1})
        two.session.on_notification(b"{}", logged)
        before = [list(each.methods) for each in two.listeners.values()]
        two.session.end(two.calls["a"])
        two.session.on_notification(b"{}", logged)
        return [*before, *(each.methods for each in two.listeners.values())]

    assert with_two_calls(act) == [[], [], [], ["notifications/message"]]


def test_a_round_without_a_progress_token_gets_no_progress() -> None:
    async def act(two: TwoCalls) -> list[str]:
        progress = Notification("notifications/progress", {"progressToken": "x", "progress": 1})
        raw = b'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"x","progress":1}}'
        two.calls["a"].on_notification(raw, progress)
        return two.listeners["a"].methods

    assert with_two_calls(act) == []


def test_a_parked_call_has_no_client() -> None:
    async def act(two: TwoCalls) -> list[object]:
        two.ask("Q")
        await two.rounds["b"]
        two.calls["b"].on_notification(b"{}", Notification("notifications/message", {}))
        return [two.calls["a"].has_client, two.calls["b"].has_client, two.listeners["b"].methods]

    assert with_two_calls(act) == [True, False, []]

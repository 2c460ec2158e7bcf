"""Several calls of one client in one session: whose question it is, the session may not say."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from strictwire.canon.json import parse_object, render
from strictwire.client.message import Identity
from strictwire.gateway.bridges.legacy_session import BridgeSession
from strictwire.gateway.bridges.resumable_call import Conversation
from strictwire.gateway.links.link import Answer, Deaf, Hearer, Question
from strictwire.gateway.links.upstream import Target, Upstream
from strictwire.wire.envelope import Notification, Request
from tests.fixtures.live import modern

CAPABILITIES = {"sampling": {}}
SAMPLED = {"role": "assistant", "content": {"type": "text", "text": "x"}}


class Kept:
    """A hearer of one round that keeps what it hears."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def open(self) -> None:
        """Nothing to open."""

    def hear(self, raw: bytes, notification: Notification) -> None:
        """Keep it."""
        self.heard.append(notification.method)

    def asked(self, raw: bytes, request: Request) -> None:
        """Nothing is asked here."""


class Wire:
    """A link whose answers the test gives."""

    alive = True

    def __init__(self) -> None:
        self.waiting: dict[object, asyncio.Future[Answer]] = {}
        self.told: list[dict[str, Any]] = []

    async def ask(self, question: Question, hearer: Hearer) -> Answer:
        self.waiting[question.id] = asyncio.get_running_loop().create_future()
        return await self.waiting[question.id]

    async def tell(self, raw: bytes) -> None:
        self.told.append(parse_object(raw))

    async def prove(self, question: Question, seconds: float) -> None:
        """It is well."""

    async def close(self) -> None:
        """Nothing to close."""

    def answer(self, number: str) -> None:
        self.waiting[number].set_result(Answer(raw=b"{}", result={"of": number}))


class Stage:
    """A session with two calls that run."""

    def __init__(self) -> None:
        self.wire = Wire()
        self.session = BridgeSession(Upstream(Target(command=("x",)), Identity()), lambda _change: None)
        self.session.link = self.wire
        self.hearers: dict[str, Kept] = {"a": Kept(), "b": Kept()}
        self.calls = {name: self._call(name) for name in ("a", "b")}
        self.rounds = {name: self.go_on(name) for name in ("a", "b")}

    def _call(self, number: str) -> Conversation:
        question = Question(id=number, method="tools/call", params={}, raw=b"{}")
        conversation = Conversation(self.wire, question, capabilities=CAPABILITIES)
        self.session.conversations.append(conversation)
        return conversation

    def go_on(self, number: str, **answers: Any) -> asyncio.Task[Answer | None]:
        """One round of a call."""
        raw = modern(1, "tools/call", {"inputResponses": answers})
        question = Question(id=1, method="tools/call", params=parse_object(raw)["params"], raw=raw)
        return asyncio.create_task(self.calls[number].go_on(question, self.hearers[number]))

    def ask(self, request_id: object, method: str = "sampling/createMessage") -> None:
        """The upstream asks, and does not say for which call."""
        raw = render({"jsonrpc": "2.0", "id": request_id, "method": method, "params": {"n": 1}})  # type: ignore[dict-item]
        self.session.asked(raw, Request(request_id, method, {"n": 1}))  # type: ignore[arg-type]

    async def settle(self) -> None:
        """Let everything that is ready run."""
        for _ in range(10):
            await asyncio.sleep(0)


def on_stage(play: Callable[[Stage], Awaitable[Any]]) -> Any:
    async def run() -> Any:
        stage = Stage()
        await stage.settle()
        async with asyncio.timeout(5):
            try:
                return await play(stage)
            finally:
                for call in stage.calls.values():
                    await call.end()

    return asyncio.run(run())


def test_a_question_goes_out_with_the_latest_call_and_its_answer_finds_back_by_its_id() -> None:
    async def play(stage: Stage) -> list[object]:
        stage.ask("Q")
        asked = await stage.rounds["b"]
        again = stage.go_on("b", q1=SAMPLED)
        await stage.settle()
        stage.wire.answer("b")
        done = await again
        return [asked, stage.wire.told, done and done.result, stage.rounds["a"].done()]

    assert on_stage(play) == [None, [{"jsonrpc": "2.0", "id": "Q", "result": SAMPLED}], {"of": "b"}, False]


def test_a_question_that_a_finished_call_carried_goes_to_the_other() -> None:
    async def play(stage: Stage) -> list[object]:
        stage.ask("Q")
        await stage.rounds["b"]
        stage.wire.answer("b")
        again = stage.go_on("b")
        await stage.settle()
        await again
        stage.session.end(stage.calls["b"])
        asked = await stage.rounds["a"]
        return [asked, parse_object(stage.calls["a"].questions)]

    assert on_stage(play) == [None, {"q1": {"method": "sampling/createMessage", "params": {"n": 1}}}]


def test_with_no_call_left_a_question_is_refused() -> None:
    async def play(stage: Stage) -> list[dict[str, Any]]:
        stage.session.end(stage.calls["a"])
        stage.session.end(stage.calls["b"])
        stage.ask("Q")
        stage.ask(7, "ping")
        await stage.settle()
        return [
            {"id": each["id"], "said": each.get("result", each.get("error", {}).get("code"))} for each in stage.wire.told
        ]

    assert on_stage(play) == [{"id": "Q", "said": -32601}, {"id": 7, "said": {}}]


def test_a_log_message_that_two_calls_could_mean_reaches_none_and_one_that_one_could_reaches_it() -> None:
    async def play(stage: Stage) -> list[list[str]]:
        told = Notification("notifications/message", {"level": "info", "data": 1})
        stage.session.hear(b"{}", told)
        before = [list(each.heard) for each in stage.hearers.values()]
        stage.session.end(stage.calls["a"])
        stage.session.hear(b"{}", told)
        return [*before, *(each.heard for each in stage.hearers.values())]

    assert on_stage(play) == [[], [], [], ["notifications/message"]]


def test_progress_goes_to_the_round_that_runs_under_its_own_token() -> None:
    async def play(stage: Stage) -> list[str]:
        told = Notification("notifications/progress", {"progressToken": "x", "progress": 1})
        raw = b'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"x","progress":1}}'
        stage.calls["a"].hear(raw, told)
        return stage.hearers["a"].heard

    # The round gave no token, so it hears of no progress.
    assert on_stage(play) == []


def test_a_parked_call_hears_nothing() -> None:
    assert isinstance(on_stage(_parked), Deaf)


async def _parked(stage: Stage) -> object:
    stage.ask("Q")
    await stage.rounds["b"]
    return stage.calls["b"]._hearer

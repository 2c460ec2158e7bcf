"""A legacy session in front of an upstream that is stateless only.

What a session says once is stamped on every request; what only sessions have is answered here (`initialize`, `ping`,
`logging/setLevel`, `resources/subscribe`); a result that asks becomes requests to the client, and its answers go up
with the next round. The state of a round never leaves this side.
"""

from __future__ import annotations

import asyncio
import itertools
import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Final

from strictwire.canon.json import JsonObject, JsonValue, join_members, render
from strictwire.client.errors import ClientError, NotUnderstood
from strictwire.fault.failure import Failure
from strictwire.gateway.bridge_listen import Subscriptions
from strictwire.gateway.bridge_terms import (
    client_capabilities,
    first_round,
    invalid,
    legacy_answer,
    offers,
    plain_result,
    server_capabilities,
    with_meta,
    with_params,
)
from strictwire.gateway.link import Answer, Era, Hearer, Link, Question
from strictwire.gateway.rewrite import replace_at, slice_at, value_at
from strictwire.gateway.upstream import NotSpoken, Upstream
from strictwire.profiles.mcp.context import LEVELS
from strictwire.profiles.mcp.era import META_CAPABILITIES, META_CLIENT, META_LOG_LEVEL, META_SERVER, META_VERSION
from strictwire.profiles.mcp.modern import ASKING
from strictwire.profiles.mcp.targets import CALLS
from strictwire.wire.envelope import (
    Notification,
    Request,
    Response,
    read_message,
    render_error,
    render_notification,
)
from strictwire.wire.revisions import MODERN, negotiate_legacy

REFUSES_SESSIONS: Final = frozenset({-32022, -32601, -32600, -32602, -32020})
"""Errors with which a server that has no sessions may answer `initialize`."""

MAX_ROUNDS: Final = 32
"""Rounds of questions in one call; a server that always asks again would never end."""

DEFAULT_LEVEL: Final = "info"
"""Log messages for a client that named no level: a session leaves it to the server, and this is what servers send."""


def refuses_sessions(answer: Answer | Failure) -> bool:
    """Whether the answer to `initialize` looks like that of a server without sessions."""
    if isinstance(answer, Failure):
        return answer.code == "UPSTREAM_BROKE"
    return answer.error is not None and answer.error["code"] in REFUSES_SESSIONS


async def maybe_bridge(upstream: Upstream, stray: Hearer) -> Link | None:
    """A session over the shared link of the stateless era; None if the upstream does not speak that either."""
    try:
        bridge = await open_bridge(upstream, stray)
    except ClientError:
        return None
    upstream.note_sessionless()
    return bridge


async def open_bridge(upstream: Upstream, stray: Hearer) -> Link:
    """A session over the shared link of the stateless era. Raises ClientError."""
    try:
        return OverModern(await upstream.modern(), upstream, stray)
    except NotSpoken as exc:
        raise NotUnderstood("the upstream speaks neither era") from exc


class OverModern:
    """A link of the legacy era outside, of the stateless era inside. The link inside is shared and stays open."""

    def __init__(self, inner: Link, upstream: Upstream, stray: Hearer) -> None:
        self._inner = inner
        self._upstream = upstream
        self._stray = stray
        self._discovery = upstream.discovery
        self._capabilities: JsonObject = {}
        self._stamp: dict[str, bytes] = {}
        self._level = DEFAULT_LEVEL
        self._asked: dict[str, asyncio.Future[tuple[Response, bytes]]] = {}
        self._numbers = itertools.count(1)
        self._subscriptions = Subscriptions(inner, upstream, stray)
        self._closed = False
        self._own: Mapping[str, Callable[[Question], Awaitable[Answer]]] = {
            "initialize": self._initialize,
            "ping": self._pong,
            "logging/setLevel": self._set_level,
            "resources/subscribe": self._subscriptions.add,
            "resources/unsubscribe": self._subscriptions.drop,
        }
        """Requests that the stateless era does not have."""

    @property
    def alive(self) -> bool:
        """See Link."""
        return self._inner.alive and not self._closed

    async def ask(self, question: Question, hearer: Hearer) -> Answer:
        """See Link. Raises ClientError."""
        own = self._own.get(question.method)
        if own is not None:
            return await own(question)
        return legacy_answer(await self._converse(question, hearer), question)

    async def tell(self, raw: bytes) -> None:
        """Take an answer of the client, or the end of the opening. The stateless era has no other words of a client."""
        message = read_message(raw)
        if isinstance(message, Response) and isinstance(message.id, str):
            waiting = self._asked.get(message.id)
            if waiting is not None and not waiting.done():
                waiting.set_result((message, raw))
        elif isinstance(message, Notification) and message.method == "notifications/initialized":
            self._subscriptions.watch_lists()

    async def prove(self, question: Question, seconds: float) -> None:  # noqa: ARG002 - `ping` is no question inside
        """See Link."""
        await self._inner.prove(self._upstream.question("server/discover", {}, Era.MODERN), seconds)

    async def close(self) -> None:
        """End the subscriptions."""
        self._closed = True
        await self._subscriptions.close()

    # What only sessions have.

    async def _initialize(self, question: Question) -> Answer:
        declared, client = question.params.get("capabilities"), slice_at(question.raw, ("params", "clientInfo"))
        self._capabilities = client_capabilities(declared if isinstance(declared, dict) else {})
        self._stamp = {META_VERSION: render(MODERN), META_CAPABILITIES: render(self._capabilities)}
        if client is not None:
            self._stamp[META_CLIENT] = client
        server = value_at(self._discovery, "_meta", META_SERVER)
        result: JsonObject = {
            "protocolVersion": negotiate_legacy(question.params.get("protocolVersion")).name,
            "capabilities": server_capabilities(self._discovery.get("capabilities")),
            "serverInfo": server if isinstance(server, dict) else {"name": self._upstream.target.name, "version": "0"},
        }
        if isinstance(self._discovery.get("instructions"), str):
            result["instructions"] = self._discovery["instructions"]
        return plain_result(question, result)

    async def _pong(self, question: Question) -> Answer:
        return plain_result(question, {})

    async def _set_level(self, question: Question) -> Answer:
        level = question.params.get("level")
        if not isinstance(level, str) or level not in LEVELS:
            return invalid(question, "level")
        self._level = level
        return plain_result(question, {})

    # Requests, and the questions that they bring.

    async def _converse(self, question: Question, hearer: Hearer) -> Answer:
        raw = with_meta(first_round(question.raw), self._stamp | self._log_stamp(question.method))
        params = {**question.params, "_meta": self._stamped(question)}
        sent = replace(question, params=params, raw=raw)
        for _ in range(MAX_ROUNDS):
            answer = await self._inner.ask(sent, hearer)
            if answer.result is None or answer.result.get("resultType") != "input_required":
                return answer
            given = await self._put(answer, question, hearer)
            if isinstance(given, Answer):
                return given
            number = f"{question.id}-{next(self._numbers)}"
            raw = replace_at(with_params(sent.raw, given), ("id",), render(number))
            sent = replace(sent, id=number, raw=raw)
        raise NotUnderstood("a call asks without end")

    def _log_stamp(self, method: str) -> dict[str, bytes]:
        logs = method in CALLS and value_at(self._discovery, "capabilities", "logging") is not None
        return {META_LOG_LEVEL: render(self._level)} if logs else {}

    def _stamped(self, question: Question) -> JsonObject:
        """What the link must see of `_meta`: whether there are progress and log messages to hand on."""
        token = value_at(question.params, "_meta", "progressToken")
        meta: JsonObject = {} if token is None else {"progressToken": token}
        return meta | ({META_LOG_LEVEL: self._level} if self._log_stamp(question.method) else {})

    async def _put(self, asking: Answer, question: Question, hearer: Hearer) -> dict[str, bytes] | Answer:
        """Put every question to the client; the members of the next round, or the client's error. Raises NotUnderstood."""
        result = asking.result or {}
        questions = result.get("inputRequests", {})
        if question.method not in ASKING or not isinstance(questions, dict):
            raise NotUnderstood("a question where none may be asked", asking.raw[:200])
        next_round: dict[str, bytes] = {}
        if isinstance(result.get("requestState"), str):
            next_round["requestState"] = slice_at(asking.raw, ("result", "requestState")) or b'""'
        ids: list[str] = []
        try:
            for key, each in questions.items():
                path = ("result", "inputRequests", key, "params")
                ids.append(self._put_one(each, slice_at(asking.raw, path) or b"{}", hearer))
            waiting = [self._asked[number] for number in ids]
            if waiting:
                # Not gather, which cancels what it waits for: an answer that is still due would look like one that came.
                await asyncio.wait(waiting)
            answers = [each.result() for each in waiting]
        finally:
            self._withdraw(ids)
        given: dict[str, bytes] = {}
        for (key, each), (response, raw) in zip(questions.items(), answers, strict=True):
            if response.error is not None and each["method"] != "elicitation/create":
                return Answer(raw=render_error(question.id, response.error), error=response.error)
            given[key] = slice_at(raw, ("result",)) or b'{"action":"cancel"}'
        return next_round | ({"inputResponses": join_members(given)} if questions else {})

    def _put_one(self, question: JsonValue, params: bytes, hearer: Hearer) -> str:
        """Send one question; the id under which its answer comes back. Raises NotUnderstood: the client cannot be asked."""
        asked = question if isinstance(question, dict) else {}
        method, given = asked.get("method"), asked.get("params")
        if not isinstance(method, str) or not offers(self._capabilities, method, given):
            raise NotUnderstood("a question that the client did not offer to answer")
        if value_at(asked, "params", "mode") == "url":
            # Sessions give such a question a name under which its end is told; here nobody will tell it.
            params = replace_at(params, ("elicitationId",), render(secrets.token_urlsafe(12)))
        number = f"question-{next(self._numbers)}"
        self._asked[number] = asyncio.get_running_loop().create_future()
        raw = b'{"jsonrpc":"2.0","id":%b,"method":%b,"params":%b}' % (render(number), render(method), params)
        hearer.asked(raw, Request(number, method, given if isinstance(given, dict) else {}))
        return number

    def _withdraw(self, ids: list[str]) -> None:
        """The call is over, or has its answers: a question that is still open is taken back."""
        for number in ids:
            if not self._asked.pop(number).done():
                params: JsonObject = {"requestId": number}
                told = Notification("notifications/cancelled", params)
                self._stray.hear(render_notification(told.method, params), told)

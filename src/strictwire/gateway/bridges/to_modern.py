"""A bridge for a legacy session to an upstream that is only stateless.

What a session says once is added to every request. What only sessions have is answered here (`initialize`, `ping`,
`logging/setLevel`, `resources/subscribe`). A result with questions becomes requests to the client, and its answers go to the
upstream with the next round. The state of a round never leaves the guard.
"""

from __future__ import annotations

import asyncio
import itertools
import secrets
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from msgspec.structs import replace

from strictwire.canon.json import JsonObject, JsonValue, join_members, render
from strictwire.client.errors import ClientError, NotUnderstood
from strictwire.client.message import Era
from strictwire.fault.failure import Failure
from strictwire.gateway.bridges.subscriptions import Subscriptions
from strictwire.gateway.bridges.translation import (
    can_answer,
    client_capabilities,
    invalid_param,
    own_result,
    server_capabilities,
    to_legacy_answer,
    with_meta,
    with_params,
    without_round,
)
from strictwire.gateway.links.errors import EraNotSpoken
from strictwire.gateway.links.link import Link, Listener, UpstreamRequest
from strictwire.gateway.links.raw_message import ID, UpstreamAnswer, replace_at, slice_at, value_at
from strictwire.gateway.links.upstream import Upstream
from strictwire.profiles.mcp.legacy import DEFAULT_LEVEL
from strictwire.profiles.mcp.targets import ASKING, CALLS
from strictwire.wire.envelope import Notification, Request, Response, read_message, render_error, render_notification
from strictwire.wire.names import LEVELS, META_CAPABILITIES, META_CLIENT, META_LOG_LEVEL, META_SERVER, META_VERSION
from strictwire.wire.revisions import MODERN, negotiate_legacy

REFUSES_SESSIONS: Final = frozenset({-32022, -32601, -32600, -32602, -32020})
"""Errors with which a server that has no sessions may answer `initialize`."""

MAX_ROUNDS: Final = 32
"""Rounds of questions in one call: a server that always asks again would never end."""


def refuses_sessions(answer: UpstreamAnswer | Failure) -> bool:
    """Whether the answer to `initialize` looks like that of a server without sessions."""
    if isinstance(answer, Failure):
        return answer.code == "UPSTREAM_BROKE"
    return answer.error is not None and answer.error["code"] in REFUSES_SESSIONS


async def maybe_bridge(upstream: Upstream, listener: Listener) -> Link | None:
    """A bridge over the upstream's shared link; None if it does not speak the stateless era either."""
    try:
        bridge = await open_bridge(upstream, listener)
    except ClientError:
        return None
    upstream.note_no_sessions()
    return bridge


async def open_bridge(upstream: Upstream, listener: Listener) -> Link:
    """A bridge over the upstream's shared link. Raises ClientError."""
    try:
        return ModernBridge(await upstream.shared_link(), upstream, listener)
    except EraNotSpoken as exc:
        raise NotUnderstood("the upstream speaks neither era") from exc


class ModernBridge:
    """A Link of the legacy era for one session, over the shared link of the stateless era, which stays open."""

    def __init__(self, link: Link, upstream: Upstream, listener: Listener) -> None:
        """`listener` gets messages that belong to no request."""
        self._link = link
        self._upstream = upstream
        self._listener = listener
        self._discovery = upstream.discovery
        self._capabilities: JsonObject = {}
        self._stated: dict[str, bytes] = {}
        """What the client said in `initialize`, as members of `_meta`."""
        self._level = DEFAULT_LEVEL
        self._pending: dict[str, asyncio.Future[tuple[Response, bytes]]] = {}
        """Questions that the client has not answered yet, by id."""
        self._numbers = itertools.count(1)
        self._subscriptions = Subscriptions(link, upstream, listener)
        self._closed = False
        self._own_methods: Mapping[str, Callable[[UpstreamRequest], Awaitable[UpstreamAnswer]]] = {
            "initialize": self._initialize,
            "ping": self._ping,
            "logging/setLevel": self._set_level,
            "resources/subscribe": self._subscriptions.subscribe,
            "resources/unsubscribe": self._subscriptions.unsubscribe,
        }
        """Requests that the stateless era does not have."""

    @property
    def alive(self) -> bool:
        """See Link."""
        return self._link.alive and not self._closed

    async def request(self, request: UpstreamRequest, listener: Listener) -> UpstreamAnswer:
        """See Link. Raises ClientError."""
        own_method = self._own_methods.get(request.method)
        if own_method is not None:
            return await own_method(request)
        return to_legacy_answer(await self._run_rounds(request, listener), request)

    async def send(self, raw: bytes) -> None:
        """See Link. Takes answers of the client, and `initialized`; the stateless era has no other messages of a client."""
        message = read_message(raw)
        if isinstance(message, Response) and isinstance(message.id, str):
            pending = self._pending.get(message.id)
            if pending is not None and not pending.done():
                pending.set_result((message, raw))
        elif isinstance(message, Notification) and message.method == "notifications/initialized":
            self._subscriptions.follow_lists()

    async def check_alive(self, request: UpstreamRequest, seconds: float) -> None:  # noqa: ARG002 - `ping` is a session's
        """See Link."""
        await self._link.check_alive(self._upstream.make_request("server/discover", {}, Era.MODERN), seconds)

    async def close(self) -> None:
        """See Link."""
        self._closed = True
        await self._subscriptions.close()

    # What only sessions have.

    async def _initialize(self, request: UpstreamRequest) -> UpstreamAnswer:
        declared, client = request.params.get("capabilities"), slice_at(request.raw, ("params", "clientInfo"))
        self._capabilities = client_capabilities(declared if isinstance(declared, dict) else {})
        self._stated = {META_VERSION: render(MODERN), META_CAPABILITIES: render(self._capabilities)}
        if client is not None:
            self._stated[META_CLIENT] = client
        server = value_at(self._discovery, "_meta", META_SERVER)
        result: JsonObject = {
            "protocolVersion": negotiate_legacy(request.params.get("protocolVersion")).name,
            "capabilities": server_capabilities(self._discovery.get("capabilities")),
            "serverInfo": server if isinstance(server, dict) else {"name": self._upstream.target.name, "version": "0"},
        }
        if isinstance(self._discovery.get("instructions"), str):
            result["instructions"] = self._discovery["instructions"]
        return own_result(request, result)

    async def _ping(self, request: UpstreamRequest) -> UpstreamAnswer:
        return own_result(request, {})

    async def _set_level(self, request: UpstreamRequest) -> UpstreamAnswer:
        level = request.params.get("level")
        if not isinstance(level, str) or level not in LEVELS:
            return invalid_param(request, "level")
        self._level = level
        return own_result(request, {})

    # Requests, and the questions in their results.

    async def _run_rounds(self, request: UpstreamRequest, listener: Listener) -> UpstreamAnswer:
        sent = self._first_round(request)
        for _ in range(MAX_ROUNDS):
            answer = await self._link.request(sent, listener)
            if answer.result is None or answer.result.get("resultType") != "input_required":
                return answer
            answers = await self._ask(answer, request, listener)
            if isinstance(answers, UpstreamAnswer):
                return answers
            number = f"{request.id}-{next(self._numbers)}"
            sent = replace(sent, id=number, raw=replace_at(with_params(sent.raw, answers), ID, render(number)))
        raise NotUnderstood("a call asks without end")

    def _first_round(self, request: UpstreamRequest) -> UpstreamRequest:
        """The request with what every request of the stateless era states.

        In the decoded params, the link needs only what says whether there are progress and log messages to pass on.
        """
        stated, meta = dict(self._stated), dict[str, JsonValue]()
        token = value_at(request.params, "_meta", "progressToken")
        if token is not None:
            meta["progressToken"] = token
        if request.method in CALLS and value_at(self._discovery, "capabilities", "logging") is not None:
            stated[META_LOG_LEVEL], meta[META_LOG_LEVEL] = render(self._level), self._level
        raw = with_meta(without_round(request.raw), stated)
        return replace(request, params={**request.params, "_meta": meta}, raw=raw)

    async def _ask(
        self, asking: UpstreamAnswer, request: UpstreamRequest, listener: Listener
    ) -> dict[str, bytes] | UpstreamAnswer:
        """Ask the client every question; the params of the next round, or the client's error. Raises NotUnderstood."""
        result = asking.result or {}
        questions = result.get("inputRequests", {})
        if request.method not in ASKING or not isinstance(questions, dict):
            raise NotUnderstood("a question where none may be asked", asking.raw[:200])
        params: dict[str, bytes] = {}
        if isinstance(result.get("requestState"), str):
            params["requestState"] = slice_at(asking.raw, ("result", "requestState")) or b'""'
        ids: list[str] = []
        try:
            for key, question in questions.items():
                path = ("result", "inputRequests", key, "params")
                ids.append(self._ask_one(question, slice_at(asking.raw, path) or b"{}", listener))
            pending = [self._pending[number] for number in ids]
            if pending:
                # Not gather: it cancels the futures, and a cancelled question would look like an answered one.
                await asyncio.wait(pending)
            responses = [each.result() for each in pending]
        finally:
            self._withdraw(ids)
        answers: dict[str, bytes] = {}
        for (key, question), (response, raw) in zip(questions.items(), responses, strict=True):
            if response.error is not None and question["method"] != "elicitation/create":
                return UpstreamAnswer(raw=render_error(request.id, response.error), error=response.error)
            answers[key] = slice_at(raw, ("result",)) or b'{"action":"cancel"}'
        return params | ({"inputResponses": join_members(answers)} if questions else {})

    def _ask_one(self, question: JsonValue, params: bytes, listener: Listener) -> str:
        """Send one question; the id of its answer. Raises NotUnderstood: the client did not declare to answer it."""
        members = question if isinstance(question, dict) else {}
        method, given = members.get("method"), members.get("params")
        if not isinstance(method, str) or not can_answer(self._capabilities, method, given):
            raise NotUnderstood("a question that the client did not declare to answer")
        if value_at(members, "params", "mode") == "url":
            # Sessions require an id, under which the server notifies when the user is done; here there is no such server.
            params = replace_at(params, ("elicitationId",), render(secrets.token_urlsafe(12)))
        number = f"question-{next(self._numbers)}"
        self._pending[number] = asyncio.get_running_loop().create_future()
        raw = b'{"jsonrpc":"2.0","id":%b,"method":%b,"params":%b}' % (render(number), render(method), params)
        listener.on_request(raw, Request(number, method, given if isinstance(given, dict) else {}))
        return number

    def _withdraw(self, ids: list[str]) -> None:
        """The call is over, or has its answers: cancel the questions that are still open."""
        for number in ids:
            if not self._pending.pop(number).done():
                params: JsonObject = {"requestId": number}
                cancelled = Notification("notifications/cancelled", params)
                self._listener.on_notification(render_notification(cancelled.method, params), cancelled)

"""Questions to a client: requests of a legacy upstream (sampling, elicitation, roots, ping) that the client must answer.

Each is sent to the client under an id of the guard, so that only an answer to a real question reaches the upstream.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from strictwire.canon.json import JsonObject, JsonValue, render
from strictwire.gateway.links.link import Link
from strictwire.gateway.links.raw_message import CANCELLED_ID, ID, INTERNAL_ERROR, METHOD_NOT_FOUND, replace_at, slice_at
from strictwire.profiles.endpoint import Outlet, Silent
from strictwire.profiles.mcp.answers import NEEDS
from strictwire.wire.envelope import Request, RequestId, Response, render_error, render_result

MAX_PENDING: Final = 1000
"""Questions of one upstream that may wait for their answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Question:
    """A question that the client has not answered yet."""

    raw_id: bytes
    upstream_id: RequestId
    link: Link


class ClientQuestions:
    """The questions of one upstream in one legacy session."""

    def __init__(self, capabilities: Mapping[str, JsonValue], *, prefix: str, send: Callable[[Link, bytes], object]) -> None:
        """`prefix` begins the guard's ids; sessions that share a client differ in it. `send` answers an upstream."""
        self._capabilities = capabilities
        self._prefix = prefix
        self._send = send
        self._pending: dict[str, _Question] = {}
        self._counter = 0

    def __bool__(self) -> bool:
        """Whether a question waits for its answer."""
        return bool(self._pending)

    def ask(self, raw: bytes, request: Request, link: Link, outlet: Outlet) -> None:
        """Send a question to the client, or refuse it on the client's behalf."""
        need = NEEDS.get(request.method)
        if need is not None and need not in self._capabilities:
            self._refuse(link, request, METHOD_NOT_FOUND, "The client did not declare this capability")
        elif len(self._pending) >= MAX_PENDING:
            self._refuse(link, request, INTERNAL_ERROR, "Too many questions are unanswered")
        elif isinstance(outlet, Silent):
            self._refuse(link, request, INTERNAL_ERROR, "The client has no open stream")
        else:
            self._counter += 1
            own_id = f"{self._prefix}-{self._counter}"
            raw_id = slice_at(raw, ID) or b"null"
            self._pending[own_id] = _Question(raw_id=raw_id, upstream_id=request.id, link=link)
            outlet.send(replace_at(raw, ID, render(own_id)))

    def take_answer(self, response: Response, raw: bytes) -> bool:
        """Pass an answer of the client to the upstream that asked; False if none did."""
        question = self._pending.pop(response.id, None) if isinstance(response.id, str) else None
        if question is None:
            return False
        self._send(question.link, replace_at(raw, ID, question.raw_id))
        return True

    def cancel(self, raw: bytes, params: JsonObject) -> bytes:
        """The upstream's cancellation of a question, under the id that the client knows; empty if it is answered."""
        cancelled = params.get("requestId")
        for own_id, question in self._pending.items():
            if type(question.upstream_id) is type(cancelled) and question.upstream_id == cancelled:
                del self._pending[own_id]
                return replace_at(raw, CANCELLED_ID, render(own_id))
        return b""

    def fail_all(self) -> None:
        """Tell the upstream that its questions will not be answered: the client is gone."""
        pending, self._pending = self._pending, {}
        for question in pending.values():
            error: JsonObject = {"code": INTERNAL_ERROR, "message": "The client is gone"}
            self._send(question.link, render_error(question.upstream_id, error))

    def forget(self, link: Link | None) -> None:
        """Drop the questions of a link that has ended."""
        self._pending = {own_id: each for own_id, each in self._pending.items() if each.link is not link}

    def _refuse(self, link: Link, request: Request, code: int, text: str) -> None:
        if request.method == "ping":
            self._send(link, render_result(request.id, b"{}"))
        else:
            self._send(link, render_error(request.id, {"code": code, "message": text}))

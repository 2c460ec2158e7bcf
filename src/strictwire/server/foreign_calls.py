"""Calls of tools of a wrapped server, with the questions that these put to the client.

The libraries have one way to ask in each era, and a call uses that of its own client:

- 2026-07-28: the tool ends with the questions, and runs again with the answers. One client serves all calls.
- before: the tool sends a request and waits. The libraries' clients do not say which call a request belongs to, so a call
  whose client can answer has a client of its own.

Only public names of the libraries are used.
"""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from strictwire.canon.json import JsonObject
from strictwire.contract.handler import ABSENT, Answer, Ask, CallContext
from strictwire.fault.dialects.rpc_numbers import FIRST_MODERN
from strictwire.fault.failure import Refused
from strictwire.fault.plain import plain_text
from strictwire.fault.raised import ToolError

MAX_ROUNDS: Final = 10
"""How often a tool may end with questions in one call: the limit of the libraries' own clients."""

PAUSE_SECONDS: Final = 0.05
"""The time before a tool that ended without a result and without questions runs again."""

ELICIT: Final = "elicitation/create"
SAMPLE: Final = "sampling/createMessage"

_ANSWERS: Final[Mapping[str, str]] = MappingProxyType(
    {ELICIT: "ElicitResult", SAMPLE: "CreateMessageResult", "roots/list": "ListRootsResult"}
)
"""The class of the official SDK for the answer to each question."""

REFUSED: Final = -32603
"""The JSON-RPC number for a question that has no answer. The tool sees an error; the call has its own failure."""

CAPABILITIES: Final = ("elicitation", "sampling")

Put: TypeAlias = Callable[[str, Any], Awaitable[Any]]
"""Puts a question, with its method and the SDK's parameters, and returns the SDK's answer."""


Callbacks: TypeAlias = Mapping[tuple[str, str], Callable[..., Awaitable[Any]]]
"""The functions of a client that answer questions, by the argument that takes one and the capability that it declares."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Library:
    """How one library is used."""

    client: tuple[str, str]
    """Module and name of its client, which takes a server of the library."""
    callbacks: Callable[[Put], Callbacks]
    shares_lifespan: Callable[[Any], bool]
    """Whether a second client of this server leaves the lifespan of the first one alone."""

    def open(self, server: Any, put: Put, capabilities: Collection[str], **options: Any) -> Any:
        """A client of a server that declares these capabilities."""
        module, name = self.client
        callbacks = {argument: each for (argument, need), each in self.callbacks(put).items() if need in capabilities}
        return getattr(importlib.import_module(module), name)(server, **callbacks, **options)


def _fastmcp_callbacks(put: Put) -> Callbacks:
    async def elicit(_message: str, _kind: object, params: Any, _context: object) -> Any:
        return await put(ELICIT, params)

    async def sample(_messages: object, params: Any, _context: object) -> Any:
        return await put(SAMPLE, params)

    return {("elicitation_handler", "elicitation"): elicit, ("sampling_handler", "sampling"): sample}


def _sdk_callbacks(put: Put) -> Callbacks:
    async def answer(method: str, params: Any) -> Any:
        try:
            return await put(method, params)
        except Refused as exc:  # an exception would end the client
            return _sdk_type("ErrorData")(code=REFUSED, message=exc.failure.code)

    async def elicit(_context: object, params: Any) -> Any:
        return await answer(ELICIT, params)

    async def sample(_context: object, params: Any) -> Any:
        return await answer(SAMPLE, params)

    return {("elicitation_callback", "elicitation"): elicit, ("sampling_callback", "sampling"): sample}


LIBRARIES: Final[Mapping[str, Library]] = MappingProxyType(
    {
        "fastmcp": Library(client=("fastmcp", "Client"), callbacks=_fastmcp_callbacks, shares_lifespan=lambda _server: True),
        "mcp": Library(
            client=("mcp.client", "Client"),
            callbacks=_sdk_callbacks,
            # The SDK enters the lifespan for each client, so a second one would have a state of its own.
            shares_lifespan=lambda server: server.settings.lifespan is None,
        ),
    }
)
"""By the top-level package of the server's class."""


class ForeignServer:
    """A wrapped server that runs."""

    def __init__(self, server: Any, library: Library, client: Any) -> None:
        self._server, self._library = server, library
        self.client = client
        """The client of all calls that have none of their own."""

    async def call_tool(self, name: str, arguments: JsonObject, call: CallContext) -> Answer:
        """Call a tool. Raises ToolError, what ends a round of questions, and what the library raises."""
        questions, raised = _Questions(call), None
        async with self._session_for(questions) as session:
            try:
                result = await _call_in_rounds(session, name, arguments, call)
            except Exception as exc:  # noqa: BLE001 - raised below: the client would put it into an exception group
                raised = exc
        if raised is not None:
            questions.raise_refused()
            raise raised
        content = tuple(dump(item) for item in result.content)
        if result.is_error:
            questions.raise_refused()
            raise ToolError(_failure_text(name, content))
        structured = result.structured_content
        return Answer(structured=ABSENT if structured is None else structured, content=content)

    @asynccontextmanager
    async def _session_for(self, questions: _Questions) -> AsyncIterator[Any]:
        if not questions.sent or not self._library.shares_lifespan(self._server):
            yield self.client.session
            return
        async with self._library.open(self._server, questions.put, questions.sent, mode="legacy") as own:
            yield own.session


@asynccontextmanager
async def open_foreign(server: Any, library: Library) -> AsyncIterator[ForeignServer]:
    """Start a wrapped server and stop it at the end."""

    async def refuse(_method: str, _params: Any) -> Any:
        # In 2026-07-28 questions come with the result. These callbacks only declare the capabilities.
        raise RuntimeError("the client of a wrapped server is asked outside of a call")

    async with library.open(server, refuse, CAPABILITIES) as client:
        yield ForeignServer(server, library, client)


async def _call_in_rounds(session: Any, name: str, arguments: JsonObject, call: CallContext) -> Any:
    """The result of a tool, once every question that it ends with is answered."""

    async def progress(done: float, total: float | None, message: str | None) -> None:
        call.progress(done, total, message)

    given: dict[str, Any] = {}
    for number in range(MAX_ROUNDS + 1):
        result = await session.call_tool(name, arguments, progress_callback=progress, allow_input_required=True, **given)
        if getattr(result, "result_type", None) != "input_required":
            return result
        requests = result.input_requests or {}
        asked = {f"{number}.{key}": _as_ask(each.method, each.params) for key, each in requests.items()}
        answers = await call.ask(asked) if asked else await _pause()
        responses = {key: _as_answer(each.method, answers[f"{number}.{key}"]) for key, each in requests.items()}
        given = {"input_responses": responses or None, "request_state": result.request_state}
    raise ToolError(f"The tool asked more than {MAX_ROUNDS} times")


async def _pause() -> Mapping[str, JsonObject]:
    await asyncio.sleep(PAUSE_SECONDS)
    return {}


class _Questions:
    """The questions of one call that are sent while it runs."""

    def __init__(self, call: CallContext) -> None:
        self._call = call
        self._refused: Refused | None = None
        revision = call.facts.get("revision") or FIRST_MODERN
        supports: Callable[[str], bool] = getattr(call, "supports", lambda _capability: False)
        self.sent = tuple(each for each in CAPABILITIES if revision < FIRST_MODERN and supports(each))
        """The capabilities of the client of the call for requests during the call."""

    async def put(self, method: str, params: Any) -> Any:
        """Send a question to the client of the call. Raises Refused."""
        try:
            answers = await self._call.ask({"question": _as_ask(method, params)})
        except Refused as exc:
            self._refused = exc
            raise
        return _as_answer(method, answers["question"])

    def raise_refused(self) -> None:
        """Raise the reason why a question has no answer, which the library does not pass on."""
        if self._refused is not None:
            raise self._refused


def _as_ask(method: str, params: Any) -> Ask:
    return Ask(method=method, params={} if params is None else dump(params))


def _as_answer(method: str, answer: JsonObject) -> Any:
    return _sdk_type(_ANSWERS[method]).model_validate(answer)


def _sdk_type(name: str) -> Any:
    return getattr(importlib.import_module("mcp_types"), name)


def dump(value: Any) -> JsonObject:
    """A value of the libraries as JSON."""
    dumped: JsonObject = value.model_dump(mode="json", by_alias=True, exclude_none=True)
    return dumped


def _failure_text(name: str, content: tuple[JsonObject, ...]) -> str:
    """What the tool says about its failure.

    FastMCP adds the text of an unexpected exception to this sentence. It may have secrets, so it is not sent.
    """
    text = next((str(item["text"]) for item in content if item.get("type") == "text"), "")
    return "" if text.startswith(f"Error calling tool {name!r}") else plain_text(text)

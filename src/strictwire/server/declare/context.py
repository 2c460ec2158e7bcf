"""The running call in the author API: progress, log messages, and requests to the client's user or model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Generic, overload

from strictwire.canon.json import JsonObject, JsonValue
from strictwire.contract.handler import Ask, CallContext
from strictwire.server.declare.forms import elicitation
from strictwire.server.declare.questions import Elicited, Sampled, read_elicited, read_sampled, roots, sampling

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    State = TypeVar("State", default=Any)
else:
    from typing import TypeVar

    State = TypeVar("State")  # Python 3.11 and 3.12 know no default at run time

Form = TypeVar("Form")

NO_LIFESPAN: Final = object()
"""The state of a server that has no lifespan. Not None, which a lifespan may yield."""


class Context(Generic[State]):
    """The running call. A tool, resource or prompt receives it in a parameter of this type.

    `Context[T]` is the same, and says that the lifespan of the server yields a `T`.
    """

    def __init__(self, call: CallContext, lifespan: Any = NO_LIFESPAN) -> None:
        self._call = call
        self._lifespan = lifespan

    @property
    def call(self) -> CallContext:
        """The call behind this context, as handlers of `add_tool` receive it."""
        return self._call

    @property
    def lifespan(self) -> State:
        """The value that the lifespan of the server yielded. Raises RuntimeError: the server has no lifespan."""
        if self._lifespan is NO_LIFESPAN:
            raise RuntimeError("the server has no lifespan; write Server(..., lifespan=...)")
        state: State = self._lifespan
        return state

    @property
    def facts(self) -> Mapping[str, str | None]:
        """The caller and the connection: principal, role, session, revision, transport."""
        return self._call.facts

    def supports(self, capability: str) -> bool:
        """Whether the client has a capability: `elicitation`, `sampling` or `roots`."""
        supports: Any = getattr(self._call, "supports", None)
        return supports is not None and bool(supports(capability))

    def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Report the progress of the call. Sent only if the client asked for it."""
        self._call.progress(progress, total, message)

    def log(self, level: str, data: JsonValue, logger: str | None = None) -> None:
        """Send a log message to the client. Sent only if the client asked for this level."""
        self._call.log(level, data, logger)

    def diagnose(self, note: str) -> None:
        """Add an informational note to the response, if the profile has a field for it."""
        self._call.diagnose(note)

    async def ask(self, questions: Mapping[str, Ask]) -> Mapping[str, JsonObject]:
        """Send several requests to the client at the same time. Choose a key for each; the raw answers have the same keys.

        In MCP 2026-07-28 the tool runs again from its start once the answers have arrived, so avoid side effects before
        this call.
        """
        return await self._call.ask(questions)

    @overload
    async def elicit(self, message: str, form: JsonObject, *, key: str = ...) -> Elicited[JsonObject]: ...

    @overload
    async def elicit(self, message: str, form: type[Form], *, key: str = ...) -> Elicited[Form]: ...

    async def elicit(self, message: str, form: Any, *, key: str = "elicitation") -> Elicited[Any]:
        """Ask the user to fill in a form: a dataclass, TypedDict, msgspec struct or pydantic model, or a JSON Schema.

        The answer is validated. One that is not accepted is asked for again with the reason, at most three times in all.
        Use a different key for each request in one tool. Raises DeclarationRefused: a form cannot show the class.
        """
        ask = elicitation(message, form)
        return read_elicited((await self._call.ask({key: ask}))[key], ask)

    async def sample(
        self, messages: Sequence[JsonObject] | str, *, key: str = "sampling", max_tokens: int = 1024, **options: JsonValue
    ) -> Sampled:
        """Ask the model of the client. The answer is validated. Raises Refused(ANSWER_INVALID)."""
        return read_sampled((await self._call.ask({key: sampling(messages, max_tokens=max_tokens, **options)}))[key])

    async def roots(self, *, key: str = "roots") -> list[JsonObject]:
        """Ask the client for its roots."""
        return list((await self._call.ask({key: roots()}))[key]["roots"])

    async def start_task(self) -> None:
        """Answer the call with a task, and go on as that task, if the tool has `TaskPolicy(start="handler")`.

        Questions before this call are questions of the call; those after it belong to the task. Does nothing in a plain
        call. Raises Refused(OVERLOADED): no more tasks can be kept.
        """
        start: Any = getattr(self._call, "start_task", None)
        if start is not None:
            await start()

    def close_stream(self) -> None:
        """Close the event stream of the call early; the client resumes it later. Does nothing if it cannot be resumed."""
        self._call.close_stream()

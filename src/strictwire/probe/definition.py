"""The definition of a probe: a record and one function, and the context that the function gets. `table` lists all."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from strictwire.canon.json import JsonObject
from strictwire.client.message import Era
from strictwire.probe.observation import Observation, ResponseKind
from strictwire.probe.record import Description, ProbeOptions, Status, Transport, Variant
from strictwire.probe.wire_http import HttpWire
from strictwire.probe.wire_stdio import StdioWire


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """What the function of a probe returns."""

    status: Status
    got: str
    seen: tuple[Observation, ...] = ()
    """The responses that the evaluation is based on; variants are compared by them."""


def passed(*seen: Observation, got: str = "") -> Evaluation:
    """The server did what is expected."""
    return Evaluation(status=Status.PASS, got=got or "; ".join(each.describe() for each in seen), seen=seen)


def found(*seen: Observation, got: str = "") -> Evaluation:
    """The server did not do what is expected."""
    return Evaluation(status=Status.FINDING, got=got or "; ".join(each.describe() for each in seen), seen=seen)


def skipped(reason: str) -> Evaluation:
    """The probe does not apply."""
    return Evaluation(status=Status.NOT_APPLICABLE, got=reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A call of a listed tool with valid arguments, and the response."""

    tool: JsonObject
    arguments: JsonObject
    seen: Observation
    seconds: float

    @property
    def name(self) -> str:
        """The tool's name."""
        return str(self.tool["name"])


@dataclass(slots=True, kw_only=True)
class ProbeContext:
    """The state of a run on one variant: the connection, the listed tools, the responses so far."""

    wire: StdioWire | HttpWire
    options: ProbeOptions
    tools: tuple[JsonObject, ...] = ()
    calls: tuple[ToolCall, ...] = ()
    log: list[tuple[str, Observation]] = field(default_factory=list)
    """Every response so far, with the id of the probe that got it."""

    @property
    def variant(self) -> Variant:
        """The variant of the connection."""
        return self.wire.variant

    @property
    def era(self) -> Era:
        """The era of the connection."""
        return self.wire.variant.era

    @property
    def capabilities(self) -> JsonObject:
        """The capabilities that the server declared."""
        capabilities = self.wire.opening.get("capabilities")
        return capabilities if isinstance(capabilities, dict) else {}

    @property
    def stdio(self) -> StdioWire:
        """The stdio connection. Raises TypeError on another transport; the runner skips probes that do not apply."""
        if not isinstance(self.wire, StdioWire):
            raise TypeError("this probe runs over stdio only")
        return self.wire

    @property
    def http(self) -> HttpWire:
        """The HTTP connection. Raises TypeError on another transport."""
        if not isinstance(self.wire, HttpWire):
            raise TypeError("this probe runs over HTTP only")
        return self.wire

    def working_calls(self) -> tuple[ToolCall, ...]:
        """Calls that returned a result. Probes change one argument of these to make invalid calls."""
        return tuple(call for call in self.calls if call.seen.kind is ResponseKind.RESULT)


ProbeFunction: TypeAlias = Callable[[ProbeContext], Awaitable[Evaluation]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """A record and one function."""

    id: str
    purpose: str
    """«Checks that ...»"""
    expected: str
    why: str
    run: ProbeFunction
    transports: frozenset[Transport] = frozenset(Transport)
    eras: frozenset[Era] = frozenset(Era)
    across_eras: bool = False
    """Whether both eras must have the same outcome, because the parser runs before the era is known."""
    compared: bool = True
    """Whether the responses of both transports are compared."""

    @property
    def description(self) -> Description:
        """The part that a report shows."""
        return Description(id=self.id, purpose=self.purpose, expected=self.expected, why=self.why)

    def maybe_reason_to_skip(self, variant: Variant) -> str | None:
        """Why the probe does not apply to a variant, or None if it does."""
        if variant.transport not in self.transports:
            return f"only over {'/'.join(sorted(self.transports))}"
        if variant.era not in self.eras:
            return f"only in the {'/'.join(sorted(self.eras))} era"
        return None

"""What a probe is and what it gets to work with. A probe is a record and one function; the tables are in `table`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from strictwire.canon.json import JsonObject
from strictwire.client.message import Era
from strictwire.probe.observation import Kind, Observation
from strictwire.probe.record import Description, Lane, Options, Status, Transport
from strictwire.probe.wire_http import HttpWire
from strictwire.probe.wire_stdio import StdioWire


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What a probe's function gives back."""

    status: Status
    got: str
    seen: tuple[Observation, ...] = ()
    """The answers that the verdict rests on; lanes are compared by them."""


def passed(*seen: Observation, got: str = "") -> Judged:
    """As it should be."""
    return Judged(status=Status.PASS, got=got or "; ".join(each.describe() for each in seen), seen=seen)


def found(*seen: Observation, got: str = "") -> Judged:
    """Not as it should be."""
    return Judged(status=Status.FINDING, got=got or "; ".join(each.describe() for each in seen), seen=seen)


def skipped(reason: str) -> Judged:
    """It does not apply, and why."""
    return Judged(status=Status.NOT_APPLICABLE, got=reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class Called:
    """One call of a listed tool with arguments that should work."""

    tool: JsonObject
    arguments: JsonObject
    seen: Observation
    seconds: float

    @property
    def name(self) -> str:
        """The tool's name."""
        return str(self.tool["name"])


@dataclass(slots=True, kw_only=True)
class Bench:
    """One lane at work: its wire, what the server lists, what was seen so far."""

    wire: StdioWire | HttpWire
    options: Options
    tools: tuple[JsonObject, ...] = ()
    calls: tuple[Called, ...] = ()
    uncalled: Mapping[str, str] = field(default_factory=dict)
    """Tools that were not called, with the reason."""
    log: list[tuple[str, Observation]] = field(default_factory=list)
    """Everything seen, with the probe that saw it."""
    canaries: list[str] = field(default_factory=list)
    """Values sent in wrong arguments; none may come back."""

    @property
    def lane(self) -> Lane:
        """Where it runs."""
        return self.wire.lane

    @property
    def era(self) -> Era:
        """Shorthand."""
        return self.wire.lane.era

    @property
    def capabilities(self) -> JsonObject:
        """What the server offers in this era."""
        capabilities = self.wire.opening.get("capabilities")
        return capabilities if isinstance(capabilities, dict) else {}

    @property
    def stdio(self) -> StdioWire:
        """The wire of a stdio lane. Raises TypeError on another: the table sends probes where they apply."""
        if not isinstance(self.wire, StdioWire):
            raise TypeError("this probe runs over stdio only")
        return self.wire

    @property
    def http(self) -> HttpWire:
        """The wire of an HTTP lane. Raises TypeError on another."""
        if not isinstance(self.wire, HttpWire):
            raise TypeError("this probe runs over HTTP only")
        return self.wire

    def working_calls(self) -> tuple[Called, ...]:
        """Calls that gave a result: their arguments are a sound base for wrong ones."""
        return tuple(call for call in self.calls if call.seen.kind is Kind.RESULT)


Judge: TypeAlias = Callable[[Bench], Awaitable[Judged]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """A record and one function."""

    id: str
    purpose: str
    """«Checks that ...»"""
    expected: str
    why: str
    judge: Judge
    transports: frozenset[Transport] = frozenset(Transport)
    eras: frozenset[Era] = frozenset(Era)
    across_eras: bool = False
    """The same bytes must be judged alike in both eras, for the parser does not know the era."""
    compared: bool = True
    """Answers of both transports are compared."""

    @property
    def description(self) -> Description:
        """What the report shows."""
        return Description(id=self.id, purpose=self.purpose, expected=self.expected, why=self.why)

    def maybe_reason_to_skip(self, lane: Lane) -> str | None:
        """Why the probe does not apply to a lane."""
        if lane.transport not in self.transports:
            return f"only over {'/'.join(sorted(self.transports))}"
        if lane.era not in self.eras:
            return f"only in the {'/'.join(sorted(self.eras))} era"
        return None

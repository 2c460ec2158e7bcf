"""The definition of a probe: a record and one function, and the context that the function gets. `table` lists all."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from strictwire.canon.json import JsonObject
from strictwire.client.message import Era
from strictwire.probe.harm import Harm
from strictwire.probe.observation import Observation, ResponseKind
from strictwire.probe.record import Description, ProbeOptions, Problem, Status, Transport, Variant
from strictwire.probe.wire_http import HttpWire
from strictwire.probe.wire_stdio import StdioWire


class Lane(StrEnum):
    """Probes of one lane run one after another on a connection of their own; lanes run at the same time."""

    BYTES = "bytes"
    """Single messages. Independent of one another."""
    TOOLS = "tools"
    """Calls of tools, whose durations are measured."""
    PROCESSES = "processes"
    """Probes that restart the server."""
    AFTER = "after"
    """Probes that send nothing and check the responses of all others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """What the function of a probe returns."""

    status: Status
    got: str
    seen: tuple[Observation, ...] = ()
    """The responses that the evaluation is based on; variants are compared by them."""
    problems: tuple[Problem, ...] = ()


def passed(*seen: Observation, got: str = "") -> Evaluation:
    """The server did what is expected."""
    return Evaluation(status=Status.PASS, got=got or "; ".join(each.describe() for each in seen), seen=seen)


def found(*seen: Observation, got: str = "") -> Evaluation:
    """The server did not do what is expected."""
    return Evaluation(status=Status.FINDING, got=got or "; ".join(each.describe() for each in seen), seen=seen)


def judged(problems: Iterable[Problem], *seen: Observation, clean: str) -> Evaluation:
    """A finding if there are problems, else a pass that says `clean`."""
    listed = tuple(problems)
    if not listed:
        return passed(*seen, got=clean)
    got = "; ".join(f"{each.subject}: {each.got}" for each in listed)
    return Evaluation(status=Status.FINDING, got=got, seen=seen, problems=listed)


def skipped(reason: str) -> Evaluation:
    """The probe does not apply."""
    return Evaluation(status=Status.NOT_APPLICABLE, got=reason)


def not_run(reason: str) -> Evaluation:
    """The probe did not run, or did not finish."""
    return Evaluation(status=Status.NOT_RUN, got=reason)


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
class VariantState:
    """What the lanes of one variant share: the tools, the calls, the responses so far."""

    tools: tuple[JsonObject, ...] = ()
    calls: tuple[ToolCall, ...] = ()
    uncalled: dict[str, str] = field(default_factory=dict)
    """Tools that were not called, with the reason."""
    surveyed: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once the tools are listed and called."""
    log: list[tuple[str, Observation]] = field(default_factory=list)
    """Every response so far, with the tool or the id of the probe that got it."""
    deaths: list[tuple[str, Observation]] = field(default_factory=list)
    """Processes that ended by themselves between two probes, with the probe before."""
    gone_after: str = ""
    """The probe after which an HTTP server can no longer be reached; empty while it can."""


@dataclass(slots=True, kw_only=True)
class ProbeContext:
    """What the function of a probe gets: the connection of its lane, and the state of its variant."""

    wire: StdioWire | HttpWire
    options: ProbeOptions
    state: VariantState = field(default_factory=VariantState)
    deadline: float = float("inf")
    """When the time budget ends, by `time.monotonic`."""

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

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The calls of the survey."""
        return self.state.calls

    @property
    def log(self) -> list[tuple[str, Observation]]:
        """Every response so far."""
        return self.state.log

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
    harm: Harm | None = None
    """The tier of a finding; None if the response decides it (`harm.harm_of`)."""
    lane: Lane = Lane.BYTES
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

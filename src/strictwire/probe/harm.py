"""How much a finding harms users: the tiers, worst first, and the tier of a response that is not the expected one. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from strictwire.probe.observation import Observation, ResponseKind


class Harm(StrEnum):
    """The tier of a finding, worst first. The values are part of the JSON report."""

    CRASH = "crash"
    WRONG = "wrong"
    EXPOSURE = "exposure"
    DROP = "drop"
    COERCION = "coercion"
    RESOURCES = "resources"
    PARITY = "parity"
    STYLE = "style"


MEANINGS: Final[Mapping[Harm, str]] = MappingProxyType(
    {
        Harm.CRASH: "The process ends, or stops responding to valid requests.",
        Harm.WRONG: "A valid request gets a wrong response, or the response to another request.",
        Harm.EXPOSURE: "A response reveals internals or secrets, or a web page can reach the server.",
        Harm.DROP: "A request gets no response, and the client waits until its timeout.",
        Harm.COERCION: "Invalid input is repaired or ignored, and something runs that the client did not send.",
        Harm.RESOURCES: "One client can make the server use unbounded memory.",
        Harm.PARITY: "Transports or protocol eras respond differently to the same request.",
        Harm.STYLE: "The request is refused, but not with the code, status or form that the protocol defines.",
    }
)
"""One sentence for each tier, for reports."""

WORST_FIRST: Final = tuple(Harm)

_BY_KIND: Final[Mapping[ResponseKind, Harm]] = MappingProxyType(
    {
        ResponseKind.RESULT: Harm.COERCION,
        ResponseKind.TOOL_ERROR: Harm.STYLE,
        ResponseKind.ERROR: Harm.STYLE,
        ResponseKind.REFUSED: Harm.STYLE,
        ResponseKind.SILENCE: Harm.DROP,
        ResponseKind.ACCEPTED: Harm.DROP,
        ResponseKind.CLOSED: Harm.DROP,
        ResponseKind.GARBAGE: Harm.WRONG,
    }
)
"""The tier of a response to input that the server should have refused. A closed connection is a crash only if the process
ended, which `Observation.is_fatal` says."""


def rank(harm: Harm) -> int:
    """The position of a tier; 0 is the worst."""
    return WORST_FIRST.index(harm)


def harm_of(seen: Sequence[Observation], declared: Harm | None) -> Harm:
    """The tier of a finding: a crash if the server ended or hangs, else what the probe declares, else by the response."""
    if any(each.is_fatal for each in seen):
        return Harm.CRASH
    if declared is not None:
        return declared
    return min((_BY_KIND[each.kind] for each in seen), key=rank, default=Harm.STYLE)

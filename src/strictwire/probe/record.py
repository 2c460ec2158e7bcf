"""The values of a probe run: lanes, verdicts, differences, the report. Pure; nothing here talks to a server."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, TypeAlias

from strictwire.canon.json import JsonObject
from strictwire.client.message import Era


class Transport(StrEnum):
    """How bytes reach the server."""

    STDIO = "stdio"
    HTTP = "http"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """One way to speak with the server: a transport and an era."""

    transport: Transport
    era: Era

    def __str__(self) -> str:
        return f"{self.transport.value}/{self.era.value}"


STDIO_MODERN: Final = Lane(transport=Transport.STDIO, era=Era.MODERN)
STDIO_LEGACY: Final = Lane(transport=Transport.STDIO, era=Era.LEGACY)
HTTP_MODERN: Final = Lane(transport=Transport.HTTP, era=Era.MODERN)
HTTP_LEGACY: Final = Lane(transport=Transport.HTTP, era=Era.LEGACY)
LANES: Final = (STDIO_MODERN, STDIO_LEGACY, HTTP_MODERN, HTTP_LEGACY)
"""Every lane, in the order of the columns of a report."""


class Status(StrEnum):
    """What a probe says. A skip is not a pass, and is shown."""

    PASS = "pass"  # noqa: S105 - a verdict, not a password
    FINDING = "finding"
    NOT_APPLICABLE = "not applicable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What one probe says about one lane."""

    probe: str
    lane: Lane
    status: Status
    got: str
    """What came; for a probe that does not apply, the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """The same bytes, two answers."""

    probe: str
    left: Lane
    right: Lane
    what: str
    """`outcome`, `code`, `text` or `shape`: how far apart the answers are, the coarsest first."""
    got_left: str
    got_right: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """What a probe is for, as the report shows it."""

    id: str
    purpose: str
    expected: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What to probe and how far to go."""

    stdio: Sequence[str] | None = None
    """The command of a server, or None to leave stdio out."""
    http: str | None = None
    """The URL of an endpoint, or None to leave HTTP out."""
    tools: Mapping[str, JsonObject] = field(default_factory=dict)
    """Arguments to call a tool with; naming a tool here permits calling it."""
    call_all: bool = False
    """Call also tools that are neither marked read-only nor named in `tools`. They may change things."""
    eras: frozenset[Era] = frozenset(Era)
    """Eras to speak."""
    only: frozenset[str] | None = None
    """Run only these probes."""
    eof_tries: int = 50
    eof_seconds: float = 12.0
    """Tries of a request with immediate end of file, and the time they may take together on one lane."""
    large: int = 8 * 1024 * 1024
    """Bytes of the oversized request: twice the 4 MiB that the official SDK takes over HTTP."""
    flood: int = 32 * 1024 * 1024
    """Bytes sent without a line end."""
    seconds: float = 10.0
    """For one answer."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Sent with every HTTP request, such as Authorization."""
    env: Mapping[str, str] | None = None
    cwd: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """One probe is about to run on one lane."""

    lane: Lane
    probe: str
    done: int
    total: int


OnProgress: TypeAlias = Callable[[Progress], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Everything a run found."""

    target: JsonObject
    lanes: tuple[Lane, ...]
    """The lanes that opened."""
    closed: Mapping[Lane, str]
    """Lanes that were asked for and did not open, with the reason."""
    probes: tuple[Description, ...]
    verdicts: tuple[Verdict, ...]
    differences: tuple[Difference, ...]
    seconds: float

    @property
    def findings(self) -> tuple[Verdict, ...]:
        """Verdicts that are findings."""
        return tuple(verdict for verdict in self.verdicts if verdict.status is Status.FINDING)

    @property
    def is_clean(self) -> bool:
        """No finding and no difference. Not a proof: see what did not apply."""
        return not self.findings and not self.differences

"""The values of a probe run: variants, results, differences, the report. Pure; no I/O."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, TypeAlias

from strictwire.canon.json import JsonObject
from strictwire.client.message import Era


class Transport(StrEnum):
    """A transport of the server."""

    STDIO = "stdio"
    HTTP = "http"


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """A variant of the protocol: one transport and one era."""

    transport: Transport
    era: Era

    def __str__(self) -> str:
        return f"{self.transport.value}/{self.era.value}"


STDIO_MODERN: Final = Variant(transport=Transport.STDIO, era=Era.MODERN)
STDIO_LEGACY: Final = Variant(transport=Transport.STDIO, era=Era.LEGACY)
HTTP_MODERN: Final = Variant(transport=Transport.HTTP, era=Era.MODERN)
HTTP_LEGACY: Final = Variant(transport=Transport.HTTP, era=Era.LEGACY)
VARIANTS: Final = (STDIO_MODERN, STDIO_LEGACY, HTTP_MODERN, HTTP_LEGACY)
"""Every variant, in the order of the columns in a report."""


class Status(StrEnum):
    """The status of a probe. A skip is not a pass; reports show it."""

    PASS = "pass"  # noqa: S105 - a status, not a password
    FINDING = "finding"
    NOT_APPLICABLE = "not applicable"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeResult:
    """The result of one probe on one variant."""

    probe: str
    variant: Variant
    status: Status
    got: str
    """What the server did; for a probe that does not apply, the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Two variants that respond differently to the same bytes."""

    probe: str
    left: Variant
    right: Variant
    what: str
    """The coarsest difference: `outcome`, `code`, `text` or `shape`."""
    got_left: str
    got_right: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """The part of a probe that a report shows."""

    id: str
    purpose: str
    expected: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeOptions:
    """The server to test, and limits."""

    stdio: Sequence[str] | None = None
    """The command that starts the server, or None to skip stdio."""
    http: str | None = None
    """The URL of the endpoint, or None to skip HTTP."""
    tools: Mapping[str, JsonObject] = field(default_factory=dict)
    """Arguments for calls, by tool. A tool in this mapping may be called."""
    call_all: bool = False
    """Whether to call tools that are neither marked read-only nor in `tools`. They may change data."""
    eras: frozenset[Era] = frozenset(Era)
    """The eras to test."""
    only: frozenset[str] | None = None
    """Run only these probes."""
    eof_tries: int = 50
    eof_seconds: float = 12.0
    """Attempts of a request with immediate end of file, and the time limit for all of them on one variant."""
    large: int = 8 * 1024 * 1024
    """Size of the oversized request: twice the 4 MiB limit of the official SDK over HTTP."""
    flood: int = 32 * 1024 * 1024
    """Number of bytes sent without a line end."""
    seconds: float = 10.0
    """Time limit for one response."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Headers for every HTTP request, for example Authorization."""
    env: Mapping[str, str] | None = None
    cwd: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeProgress:
    """Reported before a probe runs on a variant."""

    variant: Variant
    probe: str
    done: int
    total: int


OnProgress: TypeAlias = Callable[[ProbeProgress], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeReport:
    """The result of a run."""

    target: JsonObject
    variants: tuple[Variant, ...]
    """The variants on which the server responded."""
    closed: Mapping[Variant, str]
    """Requested variants on which the server did not respond, with the reason."""
    probes: tuple[Description, ...]
    results: tuple[ProbeResult, ...]
    differences: tuple[Difference, ...]
    seconds: float

    @property
    def findings(self) -> tuple[ProbeResult, ...]:
        """The results that are findings."""
        return tuple(result for result in self.results if result.status is Status.FINDING)

    @property
    def is_clean(self) -> bool:
        """Whether there are no findings and no differences. Probes that did not apply do not count."""
        return not self.findings and not self.differences

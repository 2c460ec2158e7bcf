"""The values of a probe run: variants, results, differences, the report. Pure; no I/O."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, TypeAlias

from strictwire.canon.json import JsonObject
from strictwire.client.message import Era
from strictwire.probe.harm import Harm


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
    NOT_RUN = "not run"
    """The time budget ended first, or the server could no longer be reached."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One place of a finding that has several, such as each tool whose result is wrong."""

    subject: str
    """The tool or the probe whose response has the problem. Part of the id of the finding, so it is stable."""
    got: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fatal:
    """The input after which the server ended or hangs."""

    sent: bytes
    stderr: str
    """The last lines that the server wrote to stderr, without secrets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeResult:
    """The result of one probe on one variant."""

    probe: str
    variant: Variant
    status: Status
    got: str
    """What the server did; for a probe that does not apply or did not run, the reason."""
    harm: Harm | None = None
    """The tier of a finding."""
    problems: tuple[Problem, ...] = ()
    """The places of a finding; empty if it has only one."""
    outcome: str = ""
    """Kind, code and status of the response: the part that all servers of one framework share."""
    fatal: Fatal | None = None

    @property
    def ids(self) -> tuple[str, ...]:
        """Stable ids of the finding, one for each of its places."""
        subjects = [f":{each.subject}" for each in self.problems] or [""]
        return tuple(f"{self.probe}{subject}@{self.variant}" for subject in subjects)


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

    @property
    def id(self) -> str:
        """The stable id of the finding."""
        return f"{self.probe}@{self.left}~{self.right}"


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
    """Arguments for calls, by tool. They are no permission: see `call_anything`."""
    call_anything: bool = False
    """Whether to call tools that are not declared read-only. They may change data."""
    budget: float = 25.0
    """Seconds for the whole run, start of the server included. Probes that do not fit are reported as not run."""
    seed: int = 0
    """Seed of the generated arguments. Equal seeds give equal arguments."""
    eras: frozenset[Era] = frozenset(Era)
    """The eras to test."""
    only: frozenset[str] | None = None
    """Run only these probes."""
    eof_tries: int = 50
    eof_seconds: float = 6.0
    """Attempts of a request with immediate end of file, and the time limit for all of them on one variant."""
    large: int = 8 * 1024 * 1024
    """Size of the oversized request: twice the 4 MiB limit of the official SDK over HTTP."""
    flood: int = 16 * 1024 * 1024
    """Number of bytes sent without a line end."""
    seconds: float = 5.0
    """Time limit for one response."""
    start_seconds: float = 20.0
    """Time limit for the first response of a process: interpreters and package runners start slowly."""
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
    """Probes of all variants that are done, and that there are."""
    seconds_left: float


OnProgress: TypeAlias = Callable[[ProbeProgress], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Framework:
    """The framework that a server is built on, as far as its behaviour shows."""

    name: str
    evidence: tuple[str, ...]
    shared: frozenset[str]
    """Ids of the findings that a bare server on this framework has too."""


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
    seed: int = 0
    budget: float = 25.0
    uncalled: Mapping[str, str] = field(default_factory=dict)
    """Tools that were not called, with the reason."""
    framework: Framework | None = None

    @property
    def not_run(self) -> tuple[ProbeResult, ...]:
        """The results of probes that did not run."""
        return tuple(result for result in self.results if result.status is Status.NOT_RUN)

    @property
    def findings(self) -> tuple[ProbeResult, ...]:
        """The results that are findings."""
        return tuple(result for result in self.results if result.status is Status.FINDING)

    @property
    def is_clean(self) -> bool:
        """Whether there are no findings and no differences. Probes that did not apply do not count."""
        return not self.findings and not self.differences

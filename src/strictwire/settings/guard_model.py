"""The settings of `strictwire guard`: its upstreams, and its policy. Field docstrings are the reference."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from strictwire.settings.bounds import check_range

Mode = Literal["observe", "warn", "enforce"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardedToolSettings:
    """One tool of an upstream, by the upstream's own name for it. What is left out is as for the upstream."""

    mode: Mode | None = None
    """What happens when this tool breaks its contract."""
    tier: str | None = None
    """The lowest tier of callers that may use it."""
    roles: tuple[str, ...] | None = None
    """Roles that may use it."""
    timeout_seconds: float | None = None
    """Silence before a call is given up."""
    max_call_seconds: float | None = None
    """Length of a call in all."""
    max_response_bytes: int | None = None
    """Size of one answer."""
    max_concurrent: int | None = None
    """Calls at once."""

    def __post_init__(self) -> None:
        _check_caps(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamSettings:
    """A server behind the guard: a command that is started, or a URL."""

    command: tuple[str, ...] = ()
    """The program and its arguments; no shell reads them."""
    url: str | None = None
    """Where it is, instead of a command."""
    token_env: str | None = None
    """Variable that holds the bearer token for the URL."""
    env: tuple[str, ...] = ()
    """Variables that are handed on to the command, besides harmless ones such as PATH and HOME; patterns are allowed."""
    set_env: Mapping[str, str] = field(default_factory=dict)
    """Variables that are set for the command."""
    cwd: str | None = None
    """The command's working folder."""
    prefix: str = ""
    """Put before the names of its tools and prompts."""
    rename: Mapping[str, str] = field(default_factory=dict)
    """Its own name for a tool, and the one that clients see instead."""
    allow: tuple[str, ...] = ()
    """Patterns of its tools; if there are any, only these are used."""
    deny: tuple[str, ...] = ()
    """Patterns of its tools that are not used; stronger than `allow`."""
    resources: tuple[str, ...] = ()
    """Patterns of URIs that are its own, whoever else lists them."""
    mode: Mode | None = None
    """What happens when it breaks its contract; by default that of `[guard]`."""
    lock: str | None = None
    """Lock file with its tools as they were pinned."""
    trust_on_first_use: bool = False
    """Whether the lock file is written if it is not there yet."""
    mask: bool = True
    """Whether secrets, stack traces and paths are taken out of its error texts."""
    bridge: bool = True
    """Whether clients of the other era than its own are served."""
    tier: str = "core"
    """The lowest tier of callers that may use its tools."""
    roles: tuple[str, ...] = ()
    """Roles that may use its tools; empty: any."""
    timeout_seconds: float = 60.0
    """Silence before a call is given up."""
    max_call_seconds: float = 600.0
    """Length of a call in all."""
    max_response_bytes: int = 4 * 1024 * 1024
    """Size of one answer."""
    max_concurrent: int = 1024
    """Calls at once."""
    tools: Mapping[str, GuardedToolSettings] = field(default_factory=dict)
    """`[guard.upstreams.NAME.tools.TOOL]`: terms of single tools."""

    def __post_init__(self) -> None:
        if bool(self.command) == bool(self.url):
            raise ValueError("an upstream has either a command or a url")
        if self.url is not None and not re.match(r"https?://[^/\s]", self.url):
            raise ValueError("url: expected an address that begins with http:// or https://")
        if self.token_env is not None and self.url is None:
            raise ValueError("token_env: only an upstream with a url is sent a token; hand it on with env")
        if not re.fullmatch(r"[A-Za-z0-9_.-]{0,32}", self.prefix):
            raise ValueError("prefix: expected at most 32 of A-Z a-z 0-9 _ . -, for clients refuse other names")
        if self.trust_on_first_use and self.lock is None:
            raise ValueError("trust_on_first_use: name the lock file with lock")
        _check_renames(self.rename)
        _check_caps(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleSettings:
    """A rule of the guard. A call fits if all members do; what is left out fits everything."""

    effect: Literal["allow", "deny"]
    """What becomes of calls that fit. A denial wins; a tool that an allow rule names is for those alone who fit one."""
    name: str | None = None
    """Stands in the audit trail; by default its number."""
    tools: tuple[str, ...] = ("*",)
    """Patterns of tools, as clients see their names."""
    upstreams: tuple[str, ...] = ("*",)
    """Patterns of upstreams."""
    principals: tuple[str, ...] = ("*",)
    """Patterns of callers."""
    roles: tuple[str, ...] = ("*",)
    """Patterns of roles; the pattern of no characters fits a caller without a role."""
    tiers: tuple[str, ...] = ("*",)
    """Patterns of tiers."""
    arguments: Mapping[str, str] = field(default_factory=dict)
    """An argument (`path`, or `options.path` for one inside another) and a pattern of its text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitSettings:
    """How often each caller may call."""

    calls: int
    """Calls in the time of `seconds`."""
    seconds: float = 60.0
    """The time."""
    burst: int | None = None
    """Calls that may come at once after a pause; by default as many as `calls`."""
    name: str | None = None
    """Stands in the audit trail; by default its number."""
    tools: tuple[str, ...] = ("*",)
    """Patterns of tools, as clients see their names; all that fit count together."""
    principals: tuple[str, ...] = ("*",)
    """Patterns of callers; each is counted alone."""

    def __post_init__(self) -> None:
        check_range("calls", self.calls, 1, 10**9)
        check_range("burst", self.burst or 1, 1, 10**9)
        if not 0 < self.seconds <= 86_400:
            raise ValueError("seconds: expected more than 0 and at most a day")


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardSettings:
    """What `strictwire guard` does when no server is named on the command line, and its policy in any case."""

    mode: Mode = "enforce"
    """What happens when an upstream breaks its contract: only noted, a warning, or refused."""
    default: Literal["allow", "deny"] = "allow"
    """What becomes of a call that no rule is about."""
    dry_run: bool = False
    """Whether the policy only tells and records what it would deny."""
    upstreams: Mapping[str, UpstreamSettings] = field(default_factory=dict)
    """`[guard.upstreams.NAME]`: the servers, in the order of their tools in lists."""
    rules: tuple[RuleSettings, ...] = ()
    """`[[guard.rules]]`: who may call what."""
    limits: tuple[LimitSettings, ...] = ()
    """`[[guard.limits]]`: how often."""

    def __post_init__(self) -> None:
        for name in self.upstreams:
            if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name):
                raise ValueError(f"upstreams: {name!r}: expected at most 64 of A-Z a-z 0-9 _ -")


def _check_caps(caps: UpstreamSettings | GuardedToolSettings) -> None:
    for name in ("timeout_seconds", "max_call_seconds"):
        seconds = getattr(caps, name)
        if seconds is not None and not 0 < seconds <= 86_400:
            raise ValueError(f"{name}: expected more than 0 and at most a day")
    if caps.max_response_bytes is not None:
        check_range("max_response_bytes", caps.max_response_bytes, 1024, 8 * 1024 * 1024)
    if caps.max_concurrent is not None:
        check_range("max_concurrent", caps.max_concurrent, 1, 100_000)


def _check_renames(rename: Mapping[str, str]) -> None:
    for own, shown in rename.items():
        if not re.fullmatch(r"[A-Za-z0-9_./-]{1,64}", shown):
            raise ValueError(f"rename: {own}: expected at most 64 of A-Z a-z 0-9 _ . / -, for clients refuse other names")
    if len(set(rename.values())) < len(rename):
        raise ValueError("rename: two tools with the same new name")

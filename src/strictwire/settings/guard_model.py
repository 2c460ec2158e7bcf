"""The settings of `strictwire guard`: upstreams and policy. docs/SETTINGS.md is generated from the docstrings."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from strictwire.gateway.policy.argument_paths import conditions_of
from strictwire.settings.bounds import check_range

Mode = Literal["observe", "warn", "enforce"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardedToolSettings:
    """Settings for one tool, under its name in the upstream. Keys that are not set are those of the upstream."""

    mode: Mode | None = None
    """What to do when this tool violates its contract."""
    tier: str | None = None
    """Lowest tier of callers that may use the tool."""
    roles: tuple[str, ...] | None = None
    """Roles that may use the tool."""
    timeout_seconds: float | None = None
    """Cancel a call if the upstream is silent for this long."""
    max_call_seconds: float | None = None
    """Maximum duration of a call."""
    max_response_bytes: int | None = None
    """Maximum size of one response."""
    max_concurrent: int | None = None
    """Maximum number of concurrent calls."""

    def __post_init__(self) -> None:
        _check_caps(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamSettings:
    """A server behind the guard: a command that the guard starts, or a URL."""

    command: tuple[str, ...] = ()
    """Program and arguments; started without a shell."""
    url: str | None = None
    """URL of a running server, instead of a command."""
    token_env: str | None = None
    """Environment variable with the bearer token for the URL."""
    env: tuple[str, ...] = ()
    """Environment variables to pass to the command, as patterns. Safe ones such as PATH and HOME are always passed."""
    set_env: Mapping[str, str] = field(default_factory=dict)
    """Environment variables to set for the command."""
    cwd: str | None = None
    """Working folder of the command."""
    prefix: str = ""
    """Prefix for the names of its tools and prompts."""
    rename: Mapping[str, str] = field(default_factory=dict)
    """New names for tools: the upstream's name and the name that clients see."""
    allow: tuple[str, ...] = ()
    """Patterns of tools to offer; if empty, all of them."""
    deny: tuple[str, ...] = ()
    """Patterns of tools not to offer; takes precedence over `allow`."""
    resources: tuple[str, ...] = ()
    """Patterns of URIs that belong to this upstream, even if another upstream lists them."""
    mode: Mode | None = None
    """What to do when the upstream violates its contract; by default the mode of `[guard]`."""
    lock: str | None = None
    """Lock file that its tools must match; see `strictwire pin`."""
    trust_on_first_use: bool = False
    """Whether to write the lock file from the first tool list if the file does not exist."""
    mask: bool = True
    """Whether to remove secrets, stack traces and paths from its error texts."""
    bridge: bool = True
    """Whether to translate for clients whose MCP era the upstream does not support."""
    tier: str = "core"
    """Lowest tier of callers that may use it: its tools, prompts and resources."""
    roles: tuple[str, ...] = ()
    """Roles that may use it; if empty, every caller."""
    timeout_seconds: float = 60.0
    """Cancel a call if the upstream is silent for this long."""
    health_seconds: float = 30.0
    """Time between two health checks of the upstream while it is idle."""
    max_call_seconds: float = 600.0
    """Maximum duration of a call."""
    max_response_bytes: int = 4 * 1024 * 1024
    """Maximum size of one response."""
    max_concurrent: int = 1024
    """Maximum number of concurrent calls."""
    tools: Mapping[str, GuardedToolSettings] = field(default_factory=dict)
    """`[guard.upstreams.NAME.tools.TOOL]`: settings for single tools."""

    def __post_init__(self) -> None:
        if bool(self.command) == bool(self.url):
            raise ValueError("an upstream needs either a command or a url, not both")
        if self.url is not None and not re.match(r"https?://[^/\s]", self.url):
            raise ValueError("url: expected a URL that begins with http:// or https://")
        if self.token_env is not None and self.url is None:
            raise ValueError("token_env: only for an upstream with a url; pass the variable to a command with env")
        if not re.fullmatch(r"[A-Za-z0-9_.-]{0,32}", self.prefix):
            raise ValueError("prefix: expected at most 32 characters of A-Z a-z 0-9 _ . -; clients refuse other names")
        if self.trust_on_first_use and self.lock is None:
            raise ValueError("trust_on_first_use: also set lock, the file for the pins")
        _check_renames(self.rename)
        _check_caps(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleSettings:
    """A policy rule. It matches a call if every key matches; a key that is not set matches every call."""

    effect: Literal["allow", "deny"]
    """What to do with matching calls. `deny` wins. What an `allow` rule names is only for calls that match one."""
    name: str | None = None
    """Name of the rule in the audit trail; by default its number."""
    tools: tuple[str, ...] = ()
    """Patterns of tool names, as clients see them. A rule without `tools`, `prompts` and `resources` covers all three."""
    prompts: tuple[str, ...] = ()
    """Patterns of prompt names, as clients see them; they also cover the completion of a prompt's arguments."""
    resources: tuple[str, ...] = ()
    """Patterns of URIs; they also cover subscriptions and completion. A template is matched by its own text."""
    upstreams: tuple[str, ...] = ("*",)
    """Patterns of upstream names."""
    principals: tuple[str, ...] = ("*",)
    """Patterns of callers (principals)."""
    roles: tuple[str, ...] = ("*",)
    """Patterns of roles; an empty string matches a caller without a role."""
    tiers: tuple[str, ...] = ("*",)
    """Patterns of tiers."""
    arguments: Mapping[str, str | int | float | bool] = field(default_factory=dict)
    """Arguments as JSON Pointers with wildcards, each with a pattern or a value: `{ "/options/path" = "/etc/*" }`."""

    def __post_init__(self) -> None:
        try:
            conditions_of(self.arguments)
        except ValueError as exc:
            raise ValueError(f"arguments: {exc}") from exc
        if self.arguments and self.resources:
            raise ValueError("arguments: resources have none; write a rule of its own for `resources`")


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitSettings:
    """A rate limit per caller."""

    calls: int
    """Number of calls per `seconds`."""
    seconds: float = 60.0
    """The period in seconds."""
    burst: int | None = None
    """Number of calls in a burst after a pause; by default the same as `calls`."""
    name: str | None = None
    """Name of the limit in the audit trail; by default its number."""
    tools: tuple[str, ...] = ()
    """Patterns of tool names, as clients see them; all matching tools share the limit. If empty, the limit counts every
    call: of tools, prompts, resources and completions."""
    principals: tuple[str, ...] = ("*",)
    """Patterns of callers (principals); each caller has its own count."""

    def __post_init__(self) -> None:
        check_range("calls", self.calls, 1, 10**9)
        check_range("burst", self.burst or 1, 1, 10**9)
        if not 0 < self.seconds <= 86_400:
            raise ValueError("seconds: expected a number greater than 0 and at most 86400 (one day)")


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardSettings:
    """Settings of `strictwire guard`. `upstreams` apply if the command line gives no server, the policy always."""

    mode: Mode = "enforce"
    """What to do with arguments or responses that violate the contract: `observe` relays them and logs at level info, `warn`
    relays them and logs a warning, `enforce` refuses them."""
    default: Literal["allow", "deny"] = "allow"
    """What to do with a call that no rule matches."""
    dry_run: bool = False
    """Whether the policy only logs and records what it would deny."""
    session_idle_seconds: float = 900.0
    """End a legacy session, and its processes, after this time without a request or an open stream."""
    sessions_per_principal: int | None = None
    """Maximum number of legacy sessions per caller over HTTP; by default half of all."""
    upstreams: Mapping[str, UpstreamSettings] = field(default_factory=dict)
    """`[guard.upstreams.NAME]`: the servers, in the order of their tools in lists."""
    rules: tuple[RuleSettings, ...] = ()
    """`[[guard.rules]]`: which callers may use which tools, prompts and resources."""
    limits: tuple[LimitSettings, ...] = ()
    """`[[guard.limits]]`: rate limits."""

    def __post_init__(self) -> None:
        if not 0 < self.session_idle_seconds <= 86_400:
            raise ValueError("session_idle_seconds: expected a number greater than 0 and at most 86400 (one day)")
        if self.sessions_per_principal is not None:
            check_range("sessions_per_principal", self.sessions_per_principal, 1, 10_000)
        for name in self.upstreams:
            if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name):
                raise ValueError(f"upstreams: {name!r}: expected 1 to 64 characters of A-Z a-z 0-9 _ -")


def _check_caps(caps: UpstreamSettings | GuardedToolSettings) -> None:
    for name in ("timeout_seconds", "max_call_seconds", "health_seconds"):
        seconds = getattr(caps, name, None)
        if seconds is not None and not 0 < seconds <= 86_400:
            raise ValueError(f"{name}: expected a number greater than 0 and at most 86400 (one day)")
    if caps.max_response_bytes is not None:
        check_range("max_response_bytes", caps.max_response_bytes, 1024, 8 * 1024 * 1024)
    if caps.max_concurrent is not None:
        check_range("max_concurrent", caps.max_concurrent, 1, 100_000)


def _check_renames(rename: Mapping[str, str]) -> None:
    for own, shown in rename.items():
        if not re.fullmatch(r"[A-Za-z0-9_./-]{1,64}", shown):
            raise ValueError(
                f"rename: {own}: expected 1 to 64 characters of A-Z a-z 0-9 _ . / -; clients refuse other names"
            )
    if len(set(rename.values())) < len(rename):
        raise ValueError("rename: two tools have the same new name")

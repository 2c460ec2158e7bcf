"""Converts the settings of the guard to the values of the gateway."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

from strictwire.gateway.links.connector import UpstreamTarget
from strictwire.gateway.many.naming import Naming
from strictwire.gateway.options import Mode, RelayOptions
from strictwire.gateway.policy.argument_paths import conditions_of
from strictwire.gateway.policy.guard_policy import PolicyRules
from strictwire.gateway.policy.rates import RateLimit
from strictwire.gateway.policy.rules import Effect, Filter, Rule
from strictwire.settings.guard_model import GuardedToolSettings, GuardSettings, UpstreamSettings

INHERITED_VARIABLES: Final = (
    *("HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "LANG", "LC_*", "TZ", "TMPDIR", "TEMP", "TMP", "XDG_*"),
    *("APPDATA", "COMSPEC", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATHEXT", "PROGRAMDATA", "PROGRAMFILES*"),
    *("SYSTEMDRIVE", "SYSTEMROOT", "USERNAME", "USERPROFILE", "WINDIR"),
)
"""Environment variables that every upstream process gets. Programs need them to start, and none of them is a secret."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Guarded:
    """One upstream and its settings."""

    target: UpstreamTarget
    options: RelayOptions = field(default_factory=RelayOptions)
    tool_filter: Filter = field(default_factory=Filter)
    naming: Naming = field(default_factory=Naming)
    resources: tuple[str, ...] = ()
    """Patterns of the URIs that are routed to this upstream."""
    lock: Path | None = None
    """The lock file that pins its tools."""
    trust_on_first_use: bool = False
    """Whether to write the lock file from the first tool list if the file does not exist."""


def guarded_of(guard: GuardSettings, environment: Mapping[str, str], mode: Mode | None = None) -> tuple[Guarded, ...]:
    """All upstreams, in the order of the settings. `mode` overrides theirs. Raises ValueError: a token is not set."""
    return tuple(_guarded(name, each, guard, environment, mode) for name, each in guard.upstreams.items())


def policy_rules_of(guard: GuardSettings, *, dry_run: bool = False) -> PolicyRules:
    """The policy rules and rate limits of the settings."""
    rules = [
        Rule(
            name=each.name or f"guard.rules[{number}]",
            effect=Effect(each.effect),
            tools=each.tools,
            prompts=each.prompts,
            resources=each.resources,
            upstreams=each.upstreams,
            principals=each.principals,
            roles=each.roles,
            tiers=each.tiers,
            arguments=conditions_of(each.arguments),
        )
        for number, each in enumerate(guard.rules)
    ]
    limits = [
        RateLimit(
            name=each.name or f"guard.limits[{number}]",
            calls=each.calls,
            seconds=each.seconds,
            burst=each.burst or each.calls,
            tools=each.tools,
            principals=each.principals,
        )
        for number, each in enumerate(guard.limits)
    ]
    default = Effect(guard.default)
    return PolicyRules(rules=tuple(rules), limits=tuple(limits), default=default, dry_run=dry_run or guard.dry_run)


def token_headers(variable: str | None, environment: Mapping[str, str]) -> dict[str, str]:
    """The Authorization header with the token from an environment variable. Raises ValueError: it is not set."""
    if variable is None:
        return {}
    token = environment.get(variable)
    if not token:
        raise ValueError(f"the environment variable {variable} is not set; set it to the token of the upstream")
    return {"Authorization": f"Bearer {token}"}


def _guarded(
    name: str, upstream: UpstreamSettings, guard: GuardSettings, environment: Mapping[str, str], mode: Mode | None
) -> Guarded:
    options = _options(upstream, guard, mode or Mode(upstream.mode or guard.mode))
    own = {tool: _tool_options(options, each, mode) for tool, each in upstream.tools.items()}
    try:
        headers = token_headers(upstream.token_env, environment)
    except ValueError as exc:
        raise ValueError(f"guard.upstreams.{name}: {exc}") from exc
    target = UpstreamTarget(
        name=name,
        command=upstream.command,
        url=upstream.url,
        env=_environment(upstream, environment),
        cwd=upstream.cwd,
        headers=headers,
    )
    return Guarded(
        target=target,
        options=replace(options, tools=own),
        tool_filter=Filter(allow=upstream.allow, deny=upstream.deny),
        naming=Naming(prefix=upstream.prefix, rename=upstream.rename),
        resources=upstream.resources,
        lock=None if upstream.lock is None else Path(upstream.lock),
        trust_on_first_use=upstream.trust_on_first_use,
    )


def _options(upstream: UpstreamSettings, guard: GuardSettings, mode: Mode) -> RelayOptions:
    return RelayOptions(
        mode=mode,
        idle_seconds=upstream.timeout_seconds,
        health_seconds=upstream.health_seconds,
        total_seconds=max(upstream.max_call_seconds, upstream.timeout_seconds),
        response_bytes=upstream.max_response_bytes,
        concurrency=upstream.max_concurrent,
        mask=upstream.mask,
        bridge=upstream.bridge,
        tier=upstream.tier,
        roles=frozenset(upstream.roles),
        session_idle_seconds=guard.session_idle_seconds,
        sessions_per_principal=guard.sessions_per_principal,
    )


def _tool_options(options: RelayOptions, tool: GuardedToolSettings, mode: Mode | None) -> RelayOptions:
    """The options of one tool: those of its upstream, overridden by its own settings. `mode` overrides everything."""
    given: dict[str, Any] = {
        "mode": mode or (None if tool.mode is None else Mode(tool.mode)),
        "tier": tool.tier,
        "roles": None if tool.roles is None else frozenset(tool.roles),
        "idle_seconds": tool.timeout_seconds,
        "total_seconds": tool.max_call_seconds,
        "response_bytes": tool.max_response_bytes,
        "concurrency": tool.max_concurrent,
    }
    return replace(options, **{name: value for name, value in given.items() if value is not None})


def _environment(upstream: UpstreamSettings, environment: Mapping[str, str]) -> dict[str, str]:
    """All environment variables of the upstream process. No upstream gets the secrets of another."""
    patterns = (*INHERITED_VARIABLES, *upstream.env)
    passed = {name: value for name, value in environment.items() if any(fnmatchcase(name, each) for each in patterns)}
    return passed | dict(upstream.set_env)

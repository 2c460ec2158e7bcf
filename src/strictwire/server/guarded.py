"""Converts the settings of the guard to the values of the gateway."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

from strictwire.gateway.naming import Naming
from strictwire.gateway.policy import Statutes
from strictwire.gateway.rates import Limit
from strictwire.gateway.rules import Effect, Filter, Rule
from strictwire.gateway.terms import Mode, Terms
from strictwire.gateway.upstream import Target
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

    target: Target
    terms: Terms = field(default_factory=Terms)
    chosen: Filter = field(default_factory=Filter)
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


def statutes_of(guard: GuardSettings, *, dry_run: bool = False) -> Statutes:
    """The policy rules and rate limits of the settings."""
    rules = [
        Rule(
            name=each.name or f"guard.rules[{number}]",
            effect=Effect(each.effect),
            tools=each.tools,
            upstreams=each.upstreams,
            principals=each.principals,
            roles=each.roles,
            tiers=each.tiers,
            arguments=each.arguments,
        )
        for number, each in enumerate(guard.rules)
    ]
    limits = [
        Limit(
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
    return Statutes(rules=tuple(rules), limits=tuple(limits), default=default, dry_run=dry_run or guard.dry_run)


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
    terms = _terms(upstream, mode or Mode(upstream.mode or guard.mode))
    own = {tool: _tool_terms(terms, each, mode) for tool, each in upstream.tools.items()}
    try:
        headers = token_headers(upstream.token_env, environment)
    except ValueError as exc:
        raise ValueError(f"guard.upstreams.{name}: {exc}") from exc
    target = Target(
        name=name,
        command=upstream.command,
        url=upstream.url,
        env=_environment(upstream, environment),
        cwd=upstream.cwd,
        headers=headers,
    )
    return Guarded(
        target=target,
        terms=replace(terms, tools=own),
        chosen=Filter(allow=upstream.allow, deny=upstream.deny),
        naming=Naming(prefix=upstream.prefix, rename=upstream.rename),
        resources=upstream.resources,
        lock=None if upstream.lock is None else Path(upstream.lock),
        trust_on_first_use=upstream.trust_on_first_use,
    )


def _terms(upstream: UpstreamSettings, mode: Mode) -> Terms:
    return Terms(
        mode=mode,
        silence_seconds=upstream.timeout_seconds,
        total_seconds=max(upstream.max_call_seconds, upstream.timeout_seconds),
        response_bytes=upstream.max_response_bytes,
        concurrency=upstream.max_concurrent,
        mask=upstream.mask,
        bridge=upstream.bridge,
        tier=upstream.tier,
        roles=frozenset(upstream.roles),
    )


def _tool_terms(terms: Terms, tool: GuardedToolSettings, mode: Mode | None) -> Terms:
    """The terms of one tool: those of its upstream, overridden by its own settings. `mode` overrides everything."""
    given: dict[str, Any] = {
        "mode": mode or (None if tool.mode is None else Mode(tool.mode)),
        "tier": tool.tier,
        "roles": None if tool.roles is None else frozenset(tool.roles),
        "silence_seconds": tool.timeout_seconds,
        "total_seconds": tool.max_call_seconds,
        "response_bytes": tool.max_response_bytes,
        "concurrency": tool.max_concurrent,
    }
    return replace(terms, **{name: value for name, value in given.items() if value is not None})


def _environment(upstream: UpstreamSettings, environment: Mapping[str, str]) -> dict[str, str]:
    """All environment variables of the upstream process. No upstream gets the secrets of another."""
    patterns = (*INHERITED_VARIABLES, *upstream.env)
    passed = {name: value for name, value in environment.items() if any(fnmatchcase(name, each) for each in patterns)}
    return passed | dict(upstream.set_env)

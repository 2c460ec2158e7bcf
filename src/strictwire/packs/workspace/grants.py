"""What the settings grant: which roots, who may take which role, who may approve, which programs may verify.

[packs.workspace]
roots = ["/srv/projects"]          required: sessions may be opened here and below
approvers = ["reviewer"]           principals that may approve plans of others; none by default
commands = ["python3", "cargo"]    programs that verification commands may start; none by default
session_seconds = 28800            how long a session lives

[packs.workspace.roles]            principals of each role; "local", who needs no token, by default
ANTIGRAVITY = ["planner"]
WINDSURF = ["builder"]
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from strictwire.canon.json import JsonValue
from strictwire.packs.workspace.policy.rule import Severity
from strictwire.packs.workspace.policy.rules import RULES
from strictwire.packs.workspace.roles import Role

LOCAL: Final = "local"
"""The principal of whoever needs no token: on stdio the user who started the process."""

SESSION_SECONDS: Final = 8 * 3600
"""A working day: long enough not to end in the middle of work, short enough that a lost handle is soon worthless."""

_KNOWN: Final = frozenset({"roots", "roles", "approvers", "commands", "session_seconds", "policy", "rules"})


class GrantsRefused(ValueError):
    """The settings cannot be used; a sentence that says what to write."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grants:
    """See the module."""

    roots: tuple[str, ...]
    """Resolved."""
    roles: Mapping[Role, frozenset[str]]
    approvers: frozenset[str] = frozenset()
    commands: frozenset[str] = frozenset()
    session_seconds: float = SESSION_SECONDS
    policy: bool = True
    severities: Mapping[str, Severity] = field(default_factory=dict)

    def covers(self, root: str) -> bool:
        """Whether a resolved folder is one of the roots, or lies below one."""
        return any(root == each or root.startswith(each.rstrip("/") + "/") for each in self.roots)


def read_grants(settings: Mapping[str, JsonValue]) -> Grants:
    """The grants of a settings table. Raises GrantsRefused."""
    unknown = sorted(settings.keys() - _KNOWN)
    if unknown:
        raise GrantsRefused(f"unknown setting {unknown[0]!r}; known: {', '.join(sorted(_KNOWN))}")
    roots = _names(settings, "roots")
    if not roots or not all(map(os.path.isabs, roots)):
        raise GrantsRefused("expected `roots`, a list of absolute folders in which sessions may be opened")
    return Grants(
        roots=tuple(str(Path(each).resolve()) for each in roots),
        roles=_roles(settings.get("roles", {})),
        approvers=frozenset(_names(settings, "approvers")),
        commands=frozenset(_names(settings, "commands")),
        session_seconds=_seconds(settings.get("session_seconds", SESSION_SECONDS)),
        policy=_policy(settings.get("policy", "on")),
        severities=_severities(settings.get("rules", {})),
    )


def _names(table: Mapping[str, Any], name: str) -> tuple[str, ...]:
    given = table.get(name, ())
    if not isinstance(given, list | tuple) or not all(isinstance(each, str) and each for each in given):
        raise GrantsRefused(f"expected `{name}` to be a list of texts")
    return tuple(given)


def _roles(given: Any) -> Mapping[Role, frozenset[str]]:
    if not isinstance(given, Mapping) or not given.keys() <= set(Role):
        raise GrantsRefused(f"expected `roles` to be a table with {' and '.join(Role)}")
    return {role: frozenset(_names(given, role) if role in given else (LOCAL,)) for role in Role}


def _policy(given: Any) -> bool:
    if given not in ("on", "off"):
        raise GrantsRefused('expected `policy` to be "on" or "off"')
    return bool(given == "on")


def _severities(given: Any) -> Mapping[str, Severity]:
    known = {rule.id for rule in RULES}
    if not isinstance(given, Mapping) or not given.keys() <= known or not set(given.values()) <= set(Severity):
        raise GrantsRefused(
            f"expected `rules` to give each rule one of {', '.join(Severity)}; rules: {', '.join(sorted(known))}"
        )
    return {name: Severity(value) for name, value in given.items()}


def _seconds(given: Any) -> float:
    if isinstance(given, bool) or not isinstance(given, int | float) or not 1 <= given <= 30 * 24 * 3600:
        raise GrantsRefused("expected `session_seconds` to be a number from 1 to 2592000")
    return float(given)

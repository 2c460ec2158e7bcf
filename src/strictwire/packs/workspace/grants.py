"""What the settings grant: which roots, who may take which role, who may approve, which programs may verify.

[packs.workspace]
roots = ["/srv/projects"]          required: sessions may be opened here and below
approvers = ["reviewer"]           principals that may approve plans of others; none by default
commands = ["python3", "cargo"]    programs that verification commands may start; none by default
session_seconds = 28800            how long a session lives
auditors = ["reviewer"]            principals that may read everyone's records of a workspace; none by default
history_bytes = 268435456          old and new contents kept for `strictwire plan diff`; 0 keeps none
require_prompt = false             whether plans and changes wait until the session has called read_prompt

[packs.workspace.roles]            principals of each role; "local" by default
ANTIGRAVITY = ["planner"]
WINDSURF = ["builder"]

[packs.workspace.prompts]          text files that take the place of the prompts that read_prompt gives
WINDSURF = "/etc/strictwire/windsurf.md"

"local" stands for everyone who needs no token: over HTTP on this machine, and the user of the operating system on stdio, who
can also be named: WINDSURF = ["ada"].
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from strictwire.canon.json import JsonValue
from strictwire.packs.pack import LOCAL
from strictwire.packs.workspace.policy.rule import Severity
from strictwire.packs.workspace.policy.rules import RULES
from strictwire.packs.workspace.roles import Role

SESSION_SECONDS: Final = 8 * 3600
"""A working day: long enough not to end in the middle of work, short enough that a lost handle is soon worthless."""

HISTORY_BYTES: Final = 256 * 1024 * 1024
"""Some thousand files of code in two versions each."""

_MAX_HISTORY: Final = 1 << 40
_MAX_PROMPT: Final = 64 * 1024
"""Bytes of a prompt: a model has to read it."""

_KNOWN: Final = frozenset(
    {
        "roots",
        "roles",
        "approvers",
        "auditors",
        "commands",
        "session_seconds",
        "policy",
        "rules",
        "history_bytes",
        "require_prompt",
        "prompts",
    }
)


class GrantsRefused(ValueError):
    """The settings cannot be used; a sentence that says what to write."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grants:
    """See the module."""

    roots: tuple[str, ...]
    """Resolved."""
    roles: Mapping[Role, frozenset[str]]
    approvers: frozenset[str] = frozenset()
    auditors: frozenset[str] = frozenset()
    commands: frozenset[str] = frozenset()
    session_seconds: float = SESSION_SECONDS
    policy: bool = True
    severities: Mapping[str, Severity] = field(default_factory=dict)
    history_bytes: int = HISTORY_BYTES
    require_prompt: bool = False
    prompts: Mapping[Role, str] = field(default_factory=dict)
    """Texts that take the place of ours."""

    def covers(self, root: str) -> bool:
        """Whether a resolved folder is one of the roots, or lies below one."""
        return any(root == each or root.startswith(each.rstrip("/") + "/") for each in self.roots)


def read_grants(settings: Mapping[str, JsonValue], *, local: frozenset[str] = frozenset({LOCAL})) -> Grants:
    """The grants of a settings table; `local` are the principals that need no token. Raises GrantsRefused."""
    unknown = sorted(settings.keys() - _KNOWN)
    if unknown:
        raise GrantsRefused(f"unknown setting {unknown[0]!r}; known: {', '.join(sorted(_KNOWN))}")
    roots = _names(settings, "roots")
    if not roots or not all(map(os.path.isabs, roots)):
        raise GrantsRefused("expected `roots`, a list of absolute folders in which sessions may be opened")
    return Grants(
        roots=tuple(str(Path(each).resolve()) for each in roots),
        roles=_roles(settings.get("roles", {}), local),
        approvers=_principals(settings, "approvers", local),
        auditors=_principals(settings, "auditors", local),
        commands=frozenset(_names(settings, "commands")),
        session_seconds=_seconds(settings.get("session_seconds", SESSION_SECONDS)),
        policy=_policy(settings.get("policy", "on")),
        severities=_severities(settings.get("rules", {})),
        history_bytes=_history(settings.get("history_bytes", HISTORY_BYTES)),
        require_prompt=_switch(settings.get("require_prompt", False)),
        prompts=_prompts(settings.get("prompts", {})),
    )


def _names(table: Mapping[str, Any], name: str) -> tuple[str, ...]:
    given = table.get(name, ())
    if not isinstance(given, list | tuple) or not all(isinstance(each, str) and each for each in given):
        raise GrantsRefused(f"expected `{name}` to be a list of texts")
    return tuple(given)


def _principals(table: Mapping[str, Any], name: str, local: frozenset[str]) -> frozenset[str]:
    named = frozenset(_names(table, name))
    return named | local if LOCAL in named else named


def _roles(given: Any, local: frozenset[str]) -> Mapping[Role, frozenset[str]]:
    if not isinstance(given, Mapping) or not given.keys() <= set(Role):
        raise GrantsRefused(f"expected `roles` to be a table with {' and '.join(Role)}")
    return {role: _principals(given, role, local) if role in given else local for role in Role}


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


def _history(given: Any) -> int:
    if isinstance(given, bool) or not isinstance(given, int) or not 0 <= given <= _MAX_HISTORY:
        raise GrantsRefused(f"expected `history_bytes` to be a whole number from 0 to {_MAX_HISTORY}")
    return given


def _switch(given: Any) -> bool:
    if not isinstance(given, bool):
        raise GrantsRefused("expected `require_prompt` to be true or false")
    return given


def _prompts(given: Any) -> Mapping[Role, str]:
    if not isinstance(given, Mapping) or not given.keys() <= set(Role):
        raise GrantsRefused(f"expected `prompts` to be a table with {' and '.join(Role)}")
    return {Role(role): _prompt(path) for role, path in given.items()}


def _prompt(path: Any) -> str:
    try:
        with Path(str(path)).open("rb") as file:
            raw = file.read(_MAX_PROMPT + 1)
        text = raw.decode("utf-8")
    except (OSError, UnicodeDecodeError) as exc:
        raise GrantsRefused(f"the prompt {path!s} cannot be read as UTF-8 text") from exc
    if not text.strip() or len(raw) > _MAX_PROMPT:
        raise GrantsRefused(f"expected the prompt {path!s} to hold text of at most {_MAX_PROMPT} bytes")
    return text

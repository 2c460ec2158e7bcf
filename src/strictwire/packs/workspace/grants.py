"""The settings of the workspace pack: allowed roots, roles, approvers, and programs for verification.

[packs.workspace]
roots = ["/srv/projects"]          required: sessions may be opened in these folders and below
approvers = ["reviewer"]           principals that may approve plans of others; none by default
commands = ["pytest", "cargo"]     programs that verification commands may start; none by default
path = ["/usr/local/bin", "/usr/bin", "/bin"]    folders in which they are found; relative ones are in the workspace
virtual_environment = ".venv"      Python environment of the workspace whose programs are found first
session_seconds = 28800            lifetime of a session
auditors = ["reviewer"]            principals that may read all records of a workspace; none by default
history_bytes = 268435456          size of the contents kept for `strictwire plan diff`; 0 keeps none
require_prompt = false             true: a session must call read_prompt before it plans or changes anything

[packs.workspace.roles]            principals of each role; "local" by default
ANTIGRAVITY = ["planner"]
WINDSURF = ["builder"]

[packs.workspace.environment]      variables for verification commands
DJANGO_SETTINGS_MODULE = "site.settings"

[packs.workspace.prompts]          text files that replace the built-in prompts of read_prompt
WINDSURF = "/etc/strictwire/windsurf.md"

"local" stands for every caller that needs no token: over HTTP on this machine, and over stdio the operating system user, who
can also be named: WINDSURF = ["ada"].
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from strictwire.canon.json import JsonValue
from strictwire.packs.kit.path import is_within
from strictwire.packs.pack import LOCAL
from strictwire.packs.workspace.policy.rule import Severity
from strictwire.packs.workspace.policy.rules import RULES
from strictwire.packs.workspace.programs import PATH, RESERVED, Programs
from strictwire.packs.workspace.roles import Role

SESSION_SECONDS: Final = 8 * 3600
"""A working day: long enough not to expire during work, short enough that a leaked session id soon becomes useless."""

HISTORY_BYTES: Final = 256 * 1024 * 1024
"""Enough for old and new contents of a few thousand source files."""

_MAX_HISTORY: Final = 1 << 40
_MAX_PROMPT: Final = 64 * 1024
"""Largest prompt, in bytes. It takes space in the context window of a model."""

_KNOWN: Final = frozenset(
    {
        "roots",
        "roles",
        "approvers",
        "auditors",
        "commands",
        "path",
        "virtual_environment",
        "environment",
        "session_seconds",
        "policy",
        "rules",
        "history_bytes",
        "require_prompt",
        "prompts",
    }
)


class GrantsRefused(ValueError):
    """The settings cannot be used. The message says what to write instead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grants:
    """See the module docstring."""

    roots: tuple[str, ...]
    """Absolute paths with links resolved."""
    roles: Mapping[Role, frozenset[str]]
    approvers: frozenset[str] = frozenset()
    auditors: frozenset[str] = frozenset()
    programs: Programs = field(default_factory=Programs)
    session_seconds: float = SESSION_SECONDS
    policy: bool = True
    severities: Mapping[str, Severity] = field(default_factory=dict)
    history_bytes: int = HISTORY_BYTES
    require_prompt: bool = False
    prompts: Mapping[Role, str] = field(default_factory=dict)
    """Texts that replace the built-in prompts."""

    def covers(self, root: str) -> bool:
        """Return whether a resolved folder is one of the roots or below one."""
        return any(is_within(root, each) for each in self.roots)


def read_grants(settings: Mapping[str, JsonValue], *, local: frozenset[str] = frozenset({LOCAL})) -> Grants:
    """Read the settings; `local` are the principals that need no token. Raises GrantsRefused."""
    unknown = sorted(settings.keys() - _KNOWN)
    if unknown:
        raise GrantsRefused(f"unknown setting {unknown[0]!r}; known settings: {', '.join(sorted(_KNOWN))}")
    roots = _names(settings, "roots")
    if not roots or not all(map(os.path.isabs, roots)):
        raise GrantsRefused("expected `roots` to be a list of absolute folders in which sessions may be opened")
    return Grants(
        roots=tuple(str(Path(each).resolve()) for each in roots),
        roles=_roles(settings.get("roles", {}), local),
        approvers=_principals(settings, "approvers", local),
        auditors=_principals(settings, "auditors", local),
        programs=_programs(settings),
        session_seconds=_seconds(settings.get("session_seconds", SESSION_SECONDS)),
        policy=_policy(settings.get("policy", "on")),
        severities=_severities(settings.get("rules", {})),
        history_bytes=_history(settings.get("history_bytes", HISTORY_BYTES)),
        require_prompt=_switch(settings.get("require_prompt", False)),
        prompts=_prompts(settings.get("prompts", {})),
    )


def _programs(settings: Mapping[str, Any]) -> Programs:
    path = _names(settings, "path") or PATH
    if any(":" in each or ".." in each.split("/") for each in path):
        raise GrantsRefused("expected `path` to be a list of folders, without `:` or `..`")
    return Programs(
        names=frozenset(_names(settings, "commands")),
        path=path,
        virtual_environment=_virtual_environment(settings.get("virtual_environment")),
        variables=_variables(settings.get("environment", {})),
    )


def _virtual_environment(given: Any) -> str | None:
    if given is None:
        return None
    if not isinstance(given, str) or not given or ":" in given or ".." in given.split("/"):
        raise GrantsRefused("expected `virtual_environment` to be a folder such as .venv, without `:` or `..`")
    return given


def _variables(given: Any) -> Mapping[str, str]:
    if not isinstance(given, Mapping) or not all(isinstance(each, str) and "\0" not in each for each in given.values()):
        raise GrantsRefused("expected `environment` to be a table of texts")
    refused = sorted(name for name in given if name in RESERVED or not _VARIABLE.fullmatch(name))
    if refused:
        raise GrantsRefused(f"`environment` cannot set {refused[0]!r}; `path` and `virtual_environment` set the search path")
    return dict(given)


_VARIABLE: Final = re.compile(r"(?!LD_)[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
"""Names of variables. `LD_PRELOAD` and its kind would run code before the command is confined."""


def _names(table: Mapping[str, Any], name: str) -> tuple[str, ...]:
    given = table.get(name, ())
    if not isinstance(given, list | tuple) or not all(isinstance(each, str) and each for each in given):
        raise GrantsRefused(f"expected `{name}` to be a list of non-empty strings")
    return tuple(given)


def _principals(table: Mapping[str, Any], name: str, local: frozenset[str]) -> frozenset[str]:
    named = frozenset(_names(table, name))
    return named | local if LOCAL in named else named


def _roles(given: Any, local: frozenset[str]) -> Mapping[Role, frozenset[str]]:
    if not isinstance(given, Mapping) or not given.keys() <= set(Role):
        raise GrantsRefused(f"expected `roles` to be a table with the keys {' and '.join(Role)}")
    return {role: _principals(given, role, local) if role in given else local for role in Role}


def _policy(given: Any) -> bool:
    if given not in ("on", "off"):
        raise GrantsRefused('expected `policy` to be "on" or "off"')
    return bool(given == "on")


def _severities(given: Any) -> Mapping[str, Severity]:
    known = {rule.id for rule in RULES}
    if not isinstance(given, Mapping) or not given.keys() <= known or not set(given.values()) <= set(Severity):
        raise GrantsRefused(
            f"expected `rules` to map each rule to one of {', '.join(Severity)}; rules: {', '.join(sorted(known))}"
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
        raise GrantsRefused(f"expected `prompts` to be a table with the keys {' and '.join(Role)}")
    return {Role(role): _prompt(path) for role, path in given.items()}


def _prompt(path: Any) -> str:
    try:
        with Path(str(path)).open("rb") as file:
            raw = file.read(_MAX_PROMPT + 1)
        text = raw.decode("utf-8")
    except (OSError, UnicodeDecodeError) as exc:
        raise GrantsRefused(f"the prompt file {path!s} cannot be read as UTF-8 text") from exc
    if not text.strip() or len(raw) > _MAX_PROMPT:
        raise GrantsRefused(f"expected the prompt file {path!s} to hold text of at most {_MAX_PROMPT} bytes")
    return text

"""`strictwire workspace init`: the settings of a workspace, for one person or for a team. Reads the folder, writes nothing.

One person: the agent plans and executes, the person approves at a terminal. A team: each member has a token and a role, and
approvers approve plans of others over HTTP. The text is TOML with one line per decision, to be read and edited.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

from strictwire.packs.workspace.roles import Role

_PROGRAMS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "pyproject.toml": ("python3",),
        "setup.py": ("python3",),
        "package.json": ("node", "npm"),
        "Cargo.toml": ("cargo",),
        "go.mod": ("go",),
        "Makefile": ("make",),
    }
)
"""File of a project to the programs that usually verify it."""

_ENVIRONMENTS: Final = (".venv", "venv")
"""Names of Python environments that are looked for."""

_TOOLS: Final = ("python", "pytest", "ruff", "mypy", "tox", "nox")
"""Programs of a Python environment that verify changes."""

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Team:
    """Members by what they do. Nobody in any list means one person."""

    planners: tuple[str, ...] = ()
    builders: tuple[str, ...] = ()
    approvers: tuple[str, ...] = ()

    @property
    def members(self) -> tuple[str, ...]:
        """Every name once, in order."""
        return tuple(dict.fromkeys((*self.planners, *self.builders, *self.approvers)))

    def find_problem(self) -> str | None:
        """Return why no change could ever be made, or None."""
        bad = next((name for name in self.members if not _NAME.fullmatch(name)), None)
        if bad is not None:
            return f"{bad!r} is not a name: letters, digits and . _ @ - are allowed"
        if self.members and not (self.planners and self.builders and self.approvers):
            return (
                "a team needs at least one --planner, one --builder and one --approver; without them one person is assumed"
            )
        if self.members and set(self.planners) <= set(self.approvers) and len(set(self.approvers)) == 1:
            return "the only approver is also the only planner, and nobody approves their own plan; name another approver"
        return None


def detect_programs(root: Path) -> tuple[tuple[str, ...], str | None]:
    """Return the programs that verify the project in a folder, and its Python environment."""
    found = [name for file, names in _PROGRAMS.items() if (root / file).is_file() for name in names]
    environment = next((name for name in _ENVIRONMENTS if (root / name / "pyvenv.cfg").is_file()), None)
    if environment is not None:
        found += [name for name in _TOOLS if (root / environment / "bin" / name).exists()]
    return tuple(dict.fromkeys(found)), environment


def render_settings(
    root: Path, *, commands: Iterable[str], environment: str | None, team: Team, secrets: Mapping[str, str]
) -> str:
    """Return the settings file. `secrets` are the tokens of the members, of which only the hashes are written."""
    lines = [
        "# Settings of a governed workspace; docs/WORKSPACE.md describes them. Agents cannot change this file.",
        "[server]",
        'packs = ["workspace"]',
        "",
        *(line for name in team.members for line in _token(name, secrets[name])),
        "[packs.workspace]",
        f"roots = {_toml([str(root)])}",
        f"commands = {_toml(list(commands))}  # programs that verification commands may start",
    ]
    if environment is not None:
        lines.append(f"virtual_environment = {_toml(environment)}  # its programs are found first")
    if team.members:
        planners = list(dict.fromkeys((*team.planners, *team.approvers)))
        lines += [
            f"approvers = {_toml(list(team.approvers))}  # never of their own plans",
            f"auditors = {_toml(list(team.approvers))}",
            "",
            "[packs.workspace.roles]",
            f"{Role.ANTIGRAVITY} = {_toml(planners)}",
            f"{Role.WINDSURF} = {_toml(list(team.builders))}",
        ]
    else:
        lines.append("# One person: plans are approved at a terminal, with `strictwire plan approve`.")
    return "\n".join(lines) + "\n"


def _token(name: str, secret: str) -> Iterable[str]:
    digest = hashlib.sha256(secret.encode()).hexdigest()
    return ("[[server.tokens]]", f"principal = {_toml(name)}", f'sha256 = "{digest}"', "")


def _toml(value: str | list[str]) -> str:
    """Return a string or a list of strings as TOML. Its basic strings have the escapes of JSON, except for DEL."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")

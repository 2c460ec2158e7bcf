"""The values of a plan. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

Command: TypeAlias = tuple[str, ...]
"""A program and its arguments; never a shell command line."""


class Operation(StrEnum):
    """An operation on a file."""

    CREATE = "create"
    MODIFY = "modify"
    MOVE = "move"
    DELETE = "delete"


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """One step of a plan."""

    title: str
    id: str
    objective: str
    allowed: tuple[Operation, ...]
    forbidden: tuple[Operation, ...] = ()
    artifacts: tuple[str, ...] = ()
    """Files that must exist before the phase changes anything."""
    commands: tuple[Command, ...] = ()
    """Commands that must succeed after each change of the phase."""
    outcomes: str
    stops: str
    """When the executor must stop."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ban:
    """What no phase may do: an operation, on all paths or on some."""

    operation: Operation
    pattern: str = "**"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The whole plan."""

    title: str
    role: str
    """The role that executes it."""
    author: str
    """The principal that created it and may not approve it."""
    workspace: str
    """`scope.workspace_id` of its workspace."""
    created: str
    expires: str
    scope: str
    phases: tuple[Phase, ...]
    paths: tuple[str, ...]
    gates: tuple[Command, ...] = ()
    """Commands that must succeed after each change of any phase."""
    bans: tuple[Ban, ...] = ()
    rollback: str

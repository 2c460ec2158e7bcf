"""What is kept of a task, and the seam to where it is kept. In memory here; a database can implement the same methods."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Protocol

import msgspec

MAX_TASKS: Final = 1000
"""Tasks of one process, running and kept."""

MAX_TASKS_OF_PRINCIPAL: Final = MAX_TASKS // 2
"""No caller can take the tasks of all others."""

MAX_RESULT_BYTES: Final = 256 * 1024 * 1024
"""Memory that the results of all tasks may take: more than 1000 of the default size."""


class Status(StrEnum):
    """The states of a task. The last three are final."""

    WORKING = "working"
    INPUT_REQUIRED = "input_required"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


class TaskEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One task. Its questions and its progress are known only to the process that runs it (`tasks.run.TaskRun`)."""

    id: str
    principal: str
    """Who began it; for every other caller it does not exist."""
    status: Status
    created_ms: int
    """Milliseconds since 1970."""
    updated_ms: int
    ttl_ms: int
    poll_ms: int
    message: str | None = None
    """The last progress of the handler, for people."""
    result: bytes | None = None
    """The result of the call as JSON, if it completed."""
    error: bytes | None = None
    """The JSON-RPC error, if it failed."""
    reserved_bytes: int = 0
    """The most that the result may take."""

    @property
    def expires_ms(self) -> int:
        """When it may be forgotten."""
        return self.created_ms + self.ttl_ms


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskLimits:
    """How much is kept."""

    total: int = MAX_TASKS
    per_principal: int = MAX_TASKS_OF_PRINCIPAL
    result_bytes: int = MAX_RESULT_BYTES


class TaskStore(Protocol):
    """Keeps tasks until they expire."""

    async def add(self, entry: TaskEntry) -> bool:
        """Keep a new task; False if a limit is reached. A kept task is never removed to make room."""

    async def find(self, task_id: str) -> TaskEntry | None:
        """The task with that id."""

    async def save(self, entry: TaskEntry) -> None:
        """Replace a task. One that has expired meanwhile is ignored."""

    async def expire(self, now_ms: int) -> list[str]:
        """Forget the tasks whose time is up. Returns their ids."""


class MemoryTaskStore:
    """See TaskStore. Keeps tasks in this process."""

    def __init__(self, limits: TaskLimits | None = None) -> None:
        self._limits = limits or TaskLimits()
        self._entries: dict[str, TaskEntry] = {}
        self._of_principal: Counter[str] = Counter()
        self._reserved = 0

    async def add(self, entry: TaskEntry) -> bool:
        """See TaskStore."""
        limits = self._limits
        if (
            len(self._entries) >= limits.total
            or self._of_principal[entry.principal] >= limits.per_principal
            or self._reserved + entry.reserved_bytes > limits.result_bytes
        ):
            return False
        self._entries[entry.id] = entry
        self._of_principal[entry.principal] += 1
        self._reserved += entry.reserved_bytes
        return True

    async def find(self, task_id: str) -> TaskEntry | None:
        """See TaskStore."""
        return self._entries.get(task_id)

    async def save(self, entry: TaskEntry) -> None:
        """See TaskStore."""
        if entry.id in self._entries:
            self._entries[entry.id] = entry

    async def expire(self, now_ms: int) -> list[str]:
        """See TaskStore."""
        expired = [entry for entry in self._entries.values() if entry.expires_ms <= now_ms]
        for entry in expired:
            del self._entries[entry.id]
            self._of_principal -= Counter({entry.principal: 1})  # also forgets a principal without tasks
            self._reserved -= entry.reserved_bytes
        return [entry.id for entry in expired]

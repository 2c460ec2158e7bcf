"""Subscriptions to tasks: subscriptions/listen with `taskIds` is notified of every change of status."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

from strictwire.canon.json import JsonObject
from strictwire.contract.handler import Ask
from strictwire.profiles.mcp.exchange import Exchange
from strictwire.profiles.mcp.task_store import TaskEntry
from strictwire.profiles.mcp.tasks.shown import show_change
from strictwire.wire.names import META_SUBSCRIPTION

MAX_SUBSCRIBED: Final = 1000
"""Tasks that one subscription may name: as many as there can be."""

Watcher: TypeAlias = Callable[[TaskEntry, Mapping[str, Ask]], None]
"""Takes a task after a change, and its open questions."""

Snapshot: TypeAlias = Callable[[TaskEntry], tuple[TaskEntry, Mapping[str, Ask]]]
"""A task as it is now, and its open questions."""


class Watchers:
    """Who is notified of the changes of each task."""

    def __init__(self) -> None:
        self._of_task: dict[str, set[Watcher]] = {}

    def add(self, task_id: str, watcher: Watcher) -> None:
        """Call a function for every change of a task."""
        self._of_task.setdefault(task_id, set()).add(watcher)

    def remove(self, task_id: str, watcher: Watcher) -> None:
        """Stop calling it."""
        watchers = self._of_task.get(task_id, set())
        watchers.discard(watcher)
        if not watchers:
            self._of_task.pop(task_id, None)

    def notify(self, entry: TaskEntry, questions: Mapping[str, Ask]) -> None:
        """A task has changed."""
        for watcher in tuple(self._of_task.get(entry.id, ())):
            watcher(entry, questions)


class Subscription:
    """The tasks that one subscriptions/listen is notified of."""

    def __init__(self, granted: Sequence[TaskEntry], watchers: Watchers, snapshot: Snapshot, exchange: Exchange) -> None:
        self._granted = granted
        self._watchers = watchers
        self._snapshot = snapshot
        self._mark: JsonObject = {META_SUBSCRIPTION: exchange.request.id}
        self._outlet = exchange.outlet

    @property
    def granted(self) -> JsonObject:
        """Its part of the acknowledgement."""
        return {"taskIds": [each.id for each in self._granted]} if self._granted else {}

    def start(self) -> None:
        """Send the state of each task, because it may have changed before, and then every change."""
        for each in self._granted:
            self._watchers.add(each.id, self._send)
            self._send(*self._snapshot(each))

    def stop(self) -> None:
        """Send nothing more."""
        for each in self._granted:
            self._watchers.remove(each.id, self._send)

    def _send(self, entry: TaskEntry, questions: Mapping[str, Ask]) -> None:
        self._outlet.send(show_change(entry, questions, self._mark))

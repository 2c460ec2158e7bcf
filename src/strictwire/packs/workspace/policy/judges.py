"""The few processes that judge content: started when first needed, kept, killed when they take too long, replaced in time.

Above are the tools that change files, on threads of the server; below is `worker`. What is not judged is not passed: content
that takes too long, or that no process survives, is refused.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from strictwire.canon.json import JsonObject
from strictwire.fault.failure import Refused
from strictwire.packs.workspace.policy.judge import MAX_JUDGED
from strictwire.packs.workspace.policy.rule import Rule, Severity
from strictwire.packs.workspace.policy.rules import RULES
from strictwire.packs.workspace.policy.worker import Died, Draft, TooSlow, Worker, start
from strictwire.packs.workspace.refusal import refuse

log = logging.getLogger("strictwire.workspace")

_RULES: Final[Mapping[str, Rule]] = MappingProxyType({rule.id: rule for rule in RULES})

_MEGABYTE: Final = 1024 * 1024

_ATTEMPTS: Final = 2
"""A process may die of something else than what it judges; two in a row do not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeLimits:
    """How much judging may take. All that a change waits for (its path, a process, the verdict, the commands of its plan)
    takes less than the tool's time limit, so that its caller is told what became of it."""

    seconds: float = 3.0
    """For any change: a file of two hundred lines takes a hundredth of one."""
    seconds_a_megabyte: float = 4.0
    """More for what is in it, old and new: of the largest files that people ship, the slowest takes half of this."""
    most_seconds: float = 20.0
    """However much is in it."""
    processes: int = 2
    """At once: whoever sends endless work has one of them for its seconds, and nothing of other tools."""
    places: int = 16
    """Changes that are judged or wait to be, each on a thread of the server: half of those it has by default. The next one
    is told to come again."""
    wait_seconds: float = 5.0
    """Until one that waits is told the same."""
    kept_bytes: int = _MEGABYTE
    """A process that has judged more than this at once is replaced, since the memory would stay with it."""

    def seconds_for(self, size: int) -> float:
        """For a change of that many bytes."""
        return min(self.most_seconds, self.seconds + self.seconds_a_megabyte * size / _MEGABYTE)


@dataclass(slots=True)
class _Budget:
    """Seconds that are left of a change. To start a process costs none."""

    seconds: float

    @contextmanager
    def spending(self) -> Iterator[float]:
        """What there is to spend."""
        began = time.monotonic()
        try:
            yield max(self.seconds, 0.0)
        finally:
            self.seconds -= time.monotonic() - began


class Judges:
    """See the module. For any thread."""

    def __init__(self, severities: Mapping[str, Severity], limits: JudgeLimits | None = None) -> None:
        self._severities = severities
        self._limits = limits or JudgeLimits()
        self._places = threading.Semaphore(self._limits.places)
        self._room = threading.Semaphore(self._limits.processes)
        self._lock = threading.Lock()
        self._idle: list[Worker] = []
        self._busy: list[Worker] = []
        self._is_open = True

    def check(self, *drafts: Draft) -> list[JsonObject]:
        """The warnings of a change, as `{rule, line}`.

        Raises Refused: POLICY_VIOLATION, RUST_POLICY_VIOLATION the first error, or what could not be judged; OVERLOADED too
        many wait, or the pack is closed; INTERNAL_ERROR no process can be started.
        """
        if any(len(draft.new) > MAX_JUDGED for draft in drafts):
            raise _unjudged(f"A file of more than {MAX_JUDGED} bytes is not judged, so not taken", "too_large")
        if not drafts:
            return []
        budget = _Budget(self._limits.seconds_for(sum(draft.size for draft in drafts)))
        with self._turn():
            return [warning for draft in drafts for warning in _warnings(draft, self._judge(draft, budget))]

    def close(self) -> None:
        """End all processes. A change that is being judged is refused."""
        with self._lock:
            self._is_open = False
            idle, self._idle = self._idle, []
            for worker in self._busy:
                worker.kill()
        for worker in idle:
            worker.end()

    @contextmanager
    def _turn(self) -> Iterator[None]:
        if not self._places.acquire(blocking=False):
            raise refuse("OVERLOADED", "Too many changes wait to be judged; try again in some seconds", "policy_busy")
        try:
            if not self._room.acquire(timeout=self._limits.wait_seconds):
                raise refuse("OVERLOADED", "Other changes take long to judge; try again in some seconds", "policy_busy")
            try:
                yield
            finally:
                self._room.release()
        finally:
            self._places.release()

    def _judge(self, draft: Draft, budget: _Budget) -> JsonObject:
        for _ in range(_ATTEMPTS):
            try:
                with self._taken(draft) as worker, budget.spending() as seconds:
                    return worker.ask(draft, seconds)
            except TooSlow as exc:
                text = f"{draft.path}: judging it takes too long, so it is not taken; split it, or write it more plainly"
                raise _unjudged(text, "too_slow") from exc
            except Died:
                continue
        text = f"{draft.path}: judging it takes too much memory, so it is not taken; split it, or write it more plainly"
        raise _unjudged(text, "not_judged")

    @contextmanager
    def _taken(self, draft: Draft) -> Iterator[Worker]:
        """A process that is ready, for one draft; kept for the next one if it is fit."""
        worker = self._take() or self._start()
        is_fit = False
        try:
            yield worker
            is_fit = worker.is_alive and draft.size <= self._limits.kept_bytes
        finally:
            self._give_back(worker, is_fit=is_fit)

    def _take(self) -> Worker | None:
        with self._lock:
            while self._idle:
                worker = self._idle.pop()
                if worker.is_alive:
                    self._busy.append(worker)
                    return worker
                worker.end()
        return None

    def _start(self) -> Worker:
        with self._lock:
            if not self._is_open:
                raise refuse("OVERLOADED", "The server is closing", "closing")
            try:
                worker = start(self._severities)
            except OSError as exc:
                raise _not_started() from exc
            self._busy.append(worker)
        try:
            worker.wait_until_ready()
        except (Died, TooSlow) as exc:
            self._give_back(worker, is_fit=False)
            raise _not_started() from exc
        return worker

    def _give_back(self, worker: Worker, *, is_fit: bool) -> None:
        with self._lock:
            self._busy.remove(worker)
            if is_fit and self._is_open:
                self._idle.append(worker)
                return
        log.debug("a process that judges content was ended: %d", worker.end())


def _warnings(draft: Draft, verdict: JsonObject) -> list[JsonObject]:
    """Raises Refused: the rule that is broken."""
    broken = verdict["broken"]
    if broken is None:
        return list(verdict["warnings"])
    rule, line = _RULES[broken["rule"]], broken["line"]
    text = f"{draft.path}:{line}: {rule.id}: {rule.fix}"
    raise refuse(rule.code, text, rule.id, line=line, invariant_id="POLICY_BEFORE_WRITE")


def _unjudged(text: str, reason: str) -> Refused:
    return refuse("POLICY_VIOLATION", text, reason, invariant_id="POLICY_BEFORE_WRITE")


def _not_started() -> Refused:
    return refuse("INTERNAL_ERROR", "The process that judges content could not be started", "not_started")

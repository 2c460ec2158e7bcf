"""Pool of worker processes for the policy check: started on demand, reused, killed when too slow, replaced when too large.

Above are the tools that change files, which run on threads of the server; below is `worker`. Content that is not checked is
not accepted: if a check takes too long or kills every worker, the change is refused.
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
from strictwire.packs.workspace.policy.policy import MAX_CHECKED
from strictwire.packs.workspace.policy.rule import PolicyRule, Severity
from strictwire.packs.workspace.policy.rules import RULES
from strictwire.packs.workspace.policy.worker import Died, Draft, TooSlow, Worker, start
from strictwire.packs.workspace.refusal import refuse

log = logging.getLogger("strictwire.workspace")

_RULES: Final[Mapping[str, PolicyRule]] = MappingProxyType({rule.id: rule for rule in RULES})

_MEGABYTE: Final = 1024 * 1024

_ATTEMPTS: Final = 2
"""Workers tried for one file. One may die for an unrelated reason; if two die, the content is the cause."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolLimits:
    """Resource limits of the policy check. All waits of a change together (its path, a worker, the check, the verification
    commands) stay below the time limit of the tool, so that the client learns the outcome."""

    seconds: float = 3.0
    """Time for any change. A file of 200 lines takes about a hundredth of a second."""
    seconds_per_megabyte: float = 4.0
    """Additional time per megabyte of content, old and new: twice what the slowest of the largest real files takes."""
    max_seconds: float = 20.0
    """Upper limit, however large the content."""
    processes: int = 2
    """Workers at once. A client that sends endless work occupies one of them until its time limit, and no other tool."""
    max_pending: int = 16
    """Most changes that are checked or wait for a check. Each occupies a thread of the server, which has twice as many by
    default. Further changes are refused with OVERLOADED."""
    wait_seconds: float = 5.0
    """Longest wait for a worker, then OVERLOADED."""
    reuse_bytes: int = _MEGABYTE
    """A worker that has checked more than this at once is replaced, because it would keep the memory."""

    def seconds_for(self, size: int) -> float:
        """Return the time limit for a change of this size in bytes."""
        return min(self.max_seconds, self.seconds + self.seconds_per_megabyte * size / _MEGABYTE)


@dataclass(slots=True)
class _Budget:
    """The remaining time of a change. Starting a worker does not count."""

    seconds: float

    @contextmanager
    def spending(self) -> Iterator[float]:
        """Yield the remaining seconds, and subtract the time that the block takes."""
        began = time.monotonic()
        try:
            yield max(self.seconds, 0.0)
        finally:
            self.seconds -= time.monotonic() - began


class WorkerPool:
    """See the module docstring. Safe to call from any thread."""

    def __init__(self, severities: Mapping[str, Severity], limits: PoolLimits | None = None) -> None:
        self._severities = severities
        self._limits = limits or PoolLimits()
        self._pending = threading.Semaphore(self._limits.max_pending)
        self._slots = threading.Semaphore(self._limits.processes)
        self._lock = threading.Lock()
        self._idle: list[Worker] = []
        self._busy: list[Worker] = []
        self._is_open = True

    def check(self, *drafts: Draft) -> list[JsonObject]:
        """Check the files of a change. Returns the warnings as `{rule, line}`.

        Raises Refused: POLICY_VIOLATION, RUST_POLICY_VIOLATION for the first error or if a file cannot be checked;
        OVERLOADED if too many changes wait or the pack is closing; INTERNAL_ERROR if no worker can be started.
        """
        if any(len(draft.new) > MAX_CHECKED for draft in drafts):
            text = f"A file of more than {MAX_CHECKED} bytes cannot be checked by the policy, so it is refused; split it"
            raise _unchecked(text, "too_large")
        if not drafts:
            return []
        budget = _Budget(self._limits.seconds_for(sum(draft.size for draft in drafts)))
        with self._turn():
            return [warning for draft in drafts for warning in _warnings(draft, self._check(draft, budget))]

    def close(self) -> None:
        """End all workers. Changes that are being checked are refused."""
        with self._lock:
            self._is_open = False
            idle, self._idle = self._idle, []
            for worker in self._busy:
                worker.kill()
        for worker in idle:
            worker.end()

    @contextmanager
    def _turn(self) -> Iterator[None]:
        if not self._pending.acquire(blocking=False):
            text = "Too many changes are waiting for the policy check; try again in a few seconds"
            raise refuse("OVERLOADED", text, "policy_busy")
        try:
            if not self._slots.acquire(timeout=self._limits.wait_seconds):
                text = "The policy check is busy with other changes; try again in a few seconds"
                raise refuse("OVERLOADED", text, "policy_busy")
            try:
                yield
            finally:
                self._slots.release()
        finally:
            self._pending.release()

    def _check(self, draft: Draft, budget: _Budget) -> JsonObject:
        for _ in range(_ATTEMPTS):
            try:
                with self._taken(draft) as worker, budget.spending() as seconds:
                    return worker.ask(draft, seconds)
            except TooSlow as exc:
                text = f"{draft.path}: the policy check takes too long, so the file is refused; split or simplify it"
                raise _unchecked(text, "too_slow") from exc
            except Died:
                continue
        text = f"{draft.path}: the policy check takes too much memory, so the file is refused; split or simplify it"
        raise _unchecked(text, "not_judged")

    @contextmanager
    def _taken(self, draft: Draft) -> Iterator[Worker]:
        """Yield a worker for one draft. Keeps it for the next one if it is still usable."""
        worker = self._take() or self._start()
        is_reusable = False
        try:
            yield worker
            is_reusable = worker.is_alive and draft.size <= self._limits.reuse_bytes
        finally:
            self._give_back(worker, is_reusable=is_reusable)

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
            self._give_back(worker, is_reusable=False)
            raise _not_started() from exc
        return worker

    def _give_back(self, worker: Worker, *, is_reusable: bool) -> None:
        with self._lock:
            self._busy.remove(worker)
            if is_reusable and self._is_open:
                self._idle.append(worker)
                return
        log.debug("policy worker ended with exit code %d", worker.end())


def _warnings(draft: Draft, verdict: JsonObject) -> list[JsonObject]:
    """Return the warnings of a draft. Raises Refused for an error."""
    broken = verdict["broken"]
    if broken is None:
        return list(verdict["warnings"])
    rule, line = _RULES[broken["rule"]], broken["line"]
    text = f"{draft.path}:{line}: {rule.id}: {rule.fix}"
    raise refuse(rule.code, text, rule.id, line=line, invariant_id="POLICY_BEFORE_WRITE")


def _unchecked(text: str, reason: str) -> Refused:
    return refuse("POLICY_VIOLATION", text, reason, invariant_id="POLICY_BEFORE_WRITE")


def _not_started() -> Refused:
    return refuse("INTERNAL_ERROR", "The worker process of the policy check could not be started", "not_started")

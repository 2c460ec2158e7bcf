"""Pool of worker processes that validate against schemas from clients.

A worker is started on demand, killed when it exceeds the time limit, and replaced after a number of requests.
"""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from strictwire.canon.json import JsonObject, JsonValue, parse_object, render
from strictwire.fault.failure import Refused, fail

_MODULE: Final = "strictwire.packs.basics.worker"

_MAX_ANSWER: Final = 1024 * 1024
"""Longest answer line, in bytes. Ten violations with four bounded texts each stay far below."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolLimits:
    """Resource limits of validation."""

    seconds: float = 5.0
    """Time for one document. Ordinary documents take milliseconds; the tool's own time limit is much higher."""
    processes: int = 2
    """Workers at once. A client that sends an endless schema blocks one of them for `seconds`, and no other tool."""
    requests: int = 256
    """Requests after which a worker is replaced, because the schemas it has compiled stay in its memory."""


class _Died(Exception):
    """The process ended without an answer."""


@dataclass(slots=True)
class _Worker:
    process: Process
    served: int = 0

    async def ask(self, request: bytes) -> JsonObject:
        stdin, stdout = self.process.stdin, self.process.stdout
        if stdin is None or stdout is None:
            raise _Died
        try:
            stdin.write(request + b"\n")
            await stdin.drain()
            answer = await stdout.readline()
        except (BrokenPipeError, ConnectionResetError) as exc:
            raise _Died from exc
        if not answer:
            raise _Died
        return parse_object(answer)

    async def end(self) -> None:
        with suppress(ProcessLookupError):
            self.process.kill()
        # Reads what is left and closes the pipes, which `wait` alone does not.
        await self.process.communicate()


class WorkerPool:
    """See the module docstring. Belongs to one event loop."""

    def __init__(self, limits: PoolLimits | None = None) -> None:
        self._limits = limits or PoolLimits()
        self._slots = asyncio.Semaphore(self._limits.processes)
        self._idle: list[_Worker] = []
        self._is_open = True

    async def validate(self, document: JsonValue, schema: JsonObject) -> JsonObject:
        """Return the answer of `worker.validate`. Raises Refused: TIMEOUT, CAP_EXCEEDED (out of memory)."""
        request = render({"document": document, "schema": schema})
        async with self._slots:
            worker = await self._take()
            is_reusable = False
            try:
                answer = await asyncio.wait_for(worker.ask(request), self._limits.seconds)
                worker.served += 1
                is_reusable = worker.served < self._limits.requests
            except TimeoutError:
                raise Refused(fail("TIMEOUT", details={"timeoutMs": int(self._limits.seconds * 1000)})) from None
            except _Died:
                raise Refused(
                    fail("CAP_EXCEEDED", text="Validating with this schema takes more memory than allowed")
                ) from None
            finally:
                await self._give_back(worker, is_reusable=is_reusable)
            return answer

    async def close(self) -> None:
        """End the idle workers. The call that uses a busy worker ends it."""
        self._is_open = False
        idle, self._idle = self._idle, []
        for worker in idle:
            await worker.end()

    async def _take(self) -> _Worker:
        while self._idle:
            worker = self._idle.pop()
            if worker.process.returncode is None:
                return worker
            await worker.end()
        # -P keeps the working directory out of sys.path. The worker's own time limit is one second longer than ours, so
        # that it applies only if this process has died.
        command = (sys.executable, "-P", "-m", _MODULE, str(self._limits.seconds + 1))
        process = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, limit=_MAX_ANSWER)
        return _Worker(process)

    async def _give_back(self, worker: _Worker, *, is_reusable: bool) -> None:
        if is_reusable and self._is_open:
            self._idle.append(worker)
        else:
            await worker.end()

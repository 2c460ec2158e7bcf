"""The few processes that judge foreign schemas: started when needed, killed when they take too long, replaced in time."""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from strictwire.canon.json import JsonObject, JsonValue, parse_object, render
from strictwire.fault.failure import Refused, fail

_MODULE: Final = "strictwire.packs.basics.judge"

_WARM_UP: Final = render({"document": None, "schema": {}})

_MAX_ANSWER: Final = 1024 * 1024
"""Bytes of one answer: ten violations of four bounded words are far below."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeLimits:
    """How much judging may take."""

    seconds: float = 5.0
    """For one document. Honest ones take milliseconds; the tool's own time limit lies far above."""
    processes: int = 2
    """At once: a caller who asks for endless work takes one of them for `seconds`, and nothing from other tools."""
    requests: int = 256
    """After which a process is replaced, since what it has compiled stays in its memory."""


class _Died(Exception):
    """The process ended without an answer."""


@dataclass(slots=True)
class _Judge:
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


class Judges:
    """See the module. Belongs to one event loop."""

    def __init__(self, limits: JudgeLimits | None = None) -> None:
        self._limits = limits or JudgeLimits()
        self._room = asyncio.Semaphore(self._limits.processes)
        self._idle: list[_Judge] = []
        self._is_open = True

    async def ask(self, document: JsonValue, schema: JsonObject) -> JsonObject:
        """What `judge.judge` says. Raises Refused: TIMEOUT, CAP_EXCEEDED (it took all the memory there is for it)."""
        request = render({"document": document, "schema": schema})
        async with self._room:
            judge = await self._take()
            is_fit = False
            try:
                answer = await asyncio.wait_for(judge.ask(request), self._limits.seconds)
                judge.served += 1
                is_fit = judge.served < self._limits.requests
            except TimeoutError:
                raise Refused(fail("TIMEOUT", details={"timeoutMs": int(self._limits.seconds * 1000)})) from None
            except _Died:
                raise Refused(fail("CAP_EXCEEDED", text="The schema asks for more memory than allowed")) from None
            finally:
                await self._give_back(judge, is_fit=is_fit)
            return answer

    async def close(self) -> None:
        """End the processes that wait. One that is judging is ended by the call that asked it."""
        self._is_open = False
        idle, self._idle = self._idle, []
        for judge in idle:
            await judge.end()

    async def _take(self) -> _Judge:
        while self._idle:
            judge = self._idle.pop()
            if judge.process.returncode is None:
                return judge
            await judge.end()
        # -P keeps the working folder out of the import path.
        command = (sys.executable, "-P", "-m", _MODULE, str(self._limits.seconds + 1))
        process = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, limit=_MAX_ANSWER)
        return _Judge(process)

    async def _give_back(self, judge: _Judge, *, is_fit: bool) -> None:
        if is_fit and self._is_open:
            self._idle.append(judge)
        else:
            await judge.end()

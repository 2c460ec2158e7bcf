"""Records in the audit trail what a person does at a terminal, as the server records calls: an intent, then an outcome.

The trail is opened before the person is asked anything, so that a trail that cannot be written is reported first. The server
may write to the same trail at the same time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from msgspec import structs

from strictwire.audit.event import Call, CallRecord, Intent, Outcome, Refusal, render_body
from strictwire.cli.person import is_present
from strictwire.fault.escape import for_terminal_text
from strictwire.fault.failure import Failure, Refused
from strictwire.packs.workspace.refusal import refuse

if TYPE_CHECKING:
    from strictwire.audit.recorder import Recorder
    from strictwire.canon.json import JsonValue
    from strictwire.pipeline.clock import Clock
    from strictwire.settings.model import AuditSettings

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorAct:
    """What a person does, and where."""

    principal: str
    tool: str
    """The tool that does the same over MCP, or the command."""
    root: str
    """Absolute path with links resolved."""
    plan_hash: str | None = None


class NotRecorded(Exception):
    """The audit trail cannot be written. The message says why and what to do."""

    def __init__(self, why: str) -> None:
        super().__init__(f"the audit trail cannot be written: {why}; see `strictwire audit verify`")


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorJournal:
    """The open trail, for one act."""

    act: OperatorAct
    recorder: Recorder
    clock: Clock
    runner: asyncio.Runner
    """Runs the event loop of the trail, only while a record is written. A prompt would block it and ignore Ctrl-C."""

    def note(self, cause: JsonValue) -> None:
        """Record an act that is done already. Raises NotRecorded."""
        self._append(structs.replace(self._record(), cause=cause))

    def refuse(self, failure: Failure) -> None:
        """Record that the act was refused before anything was done. Raises NotRecorded."""
        self._append(Refusal(**structs.asdict(_failed(self._record(), failure))))

    def perform(self, work: Callable[[], Result]) -> Result:
        """Do the work between an intent and an outcome record.

        Raises NotRecorded; if the intent is not kept, nothing is done. Raises Refused as the work does, after recording it.
        """
        begun = structs.replace(self._record(), call_id=self.clock.next_id())
        self._append(Intent(**{name: getattr(begun, name) for name in CallRecord.__struct_fields__}))
        try:
            result = work()
        except Refused as exc:
            self._append(Outcome(**structs.asdict(_failed(begun, exc.failure))))
            raise
        self._append(Outcome(**structs.asdict(structs.replace(begun, timestamp=self.clock.timestamp()))))
        return result

    def _record(self) -> Call:
        act = self.act
        return Call(
            timestamp=self.clock.timestamp(),
            principal=act.principal,
            transport="terminal",
            tool_name=act.tool,
            plan_hash=act.plan_hash,
            workspace_root=act.root,
        )

    def _append(self, record: Call | Intent | Outcome | Refusal) -> None:
        failure = self.runner.run(_commit(self.recorder, render_body(record)))
        if failure is not None:
            raise NotRecorded(str(failure.details.get("reason", failure.code)))


def _failed(record: Call, failure: Failure) -> Call:
    return structs.replace(record, outcome="error", error_code=failure.code, cause=failure.cause)


async def _commit(recorder: Recorder, body: bytes) -> Failure | None:
    kept: asyncio.Future[Failure | None] = asyncio.get_running_loop().create_future()
    recorder.append([body], kept.set_result)
    return await kept


@contextmanager
def open_journal(audit: AuditSettings, act: OperatorAct) -> Iterator[OperatorJournal]:
    """Open the trail of the server. Raises NotRecorded."""
    from strictwire.pipeline.clock import Clock
    from strictwire.server.compose import open_recorder_of
    from strictwire.stores.fault import LogFault

    clock, opened = Clock(), AsyncExitStack()
    with asyncio.Runner() as runner:
        try:
            recorder = runner.run(open_recorder_of(audit, clock, opened))
        except LogFault as exc:
            raise NotRecorded(str(exc)) from exc
        try:
            yield OperatorJournal(act=act, recorder=recorder, clock=clock, runner=runner)
        finally:
            runner.run(opened.aclose())


def decide(
    audit: AuditSettings, act: OperatorAct, *, question: str, show: Callable[[], str], work: Callable[[], Result]
) -> Result:
    """Show a text and a code, and do the work if the code is typed back. Recorded; without a record nothing is done.

    Raises NotRecorded; Refused: UNAUTHORIZED_ACTION without the code, and what `show` and `work` raise.
    """
    with open_journal(audit, act) as journal:
        try:
            _confirm(question, show())
        except Refused as exc:
            journal.refuse(exc.failure)
            raise
        return journal.perform(work)


def _confirm(question: str, text: str) -> None:
    try:
        present = is_present(question, show=for_terminal_text(text))
    except OSError as exc:
        raise refuse("UNAUTHORIZED_ACTION", "this needs a person at a terminal", "no_terminal") from exc
    except KeyboardInterrupt as exc:
        raise refuse("UNAUTHORIZED_ACTION", "nothing was done: interrupted", "interrupted") from exc
    if not present:
        raise refuse("UNAUTHORIZED_ACTION", "nothing was done: the code is wrong or too late", "code")

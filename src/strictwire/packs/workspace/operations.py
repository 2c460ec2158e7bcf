"""The commands of an operator: doctor, report, stop and resume, as plain functions like those of `verbs`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from strictwire.canon.json import indent, render
from strictwire.fault.escape import for_terminal
from strictwire.fault.plain import plain_text
from strictwire.packs.kit.staging import TEMPORARY
from strictwire.packs.workspace.doctor import Doctor
from strictwire.packs.workspace.grants import Grants
from strictwire.packs.workspace.history import History, has_problems, render_text
from strictwire.packs.workspace.journal import Journals
from strictwire.packs.workspace.pack import JOURNALS, LOCKS, STOPS
from strictwire.packs.workspace.path_locks import PathLocks
from strictwire.packs.workspace.records import Records, require_trail
from strictwire.packs.workspace.replay import Replay
from strictwire.packs.workspace.roles import Role
from strictwire.packs.workspace.stops import Stop, Stops
from strictwire.packs.workspace.timestamps import render_timestamp
from strictwire.packs.workspace.verbs import FINDINGS, CommandContext, CommandResult, explain_no_record, open_ledger, opened

_MAX_REASON: Final = 500
"""Characters of the reason of a stop, which is part of every refusal."""


def run_doctor(context: CommandContext, *, settings: Mapping[str, Any], local: frozenset[str]) -> CommandResult:
    """Print one line per check. Exit 100 if one failed."""
    doctor = Doctor(
        root=context.root.resolve(),
        state=context.state,
        settings=settings,
        local=local,
        now=context.now,
        no_record=explain_no_record(context),
    )
    checks = list(doctor.examine())
    lines = [f"{'ok     ' if each.is_ok else 'PROBLEM'} {each.name:<8} {for_terminal(each.text)}\n" for each in checks]
    return CommandResult(exit_code=0 if all(each.is_ok for each in checks) else FINDINGS, stdout="".join(lines))


def run_report(context: CommandContext, *, plan_hash: str | None, is_json: bool) -> CommandResult:
    """Print who changed what under which plan. Exit 100 if the evidence of a plan does not hold."""
    trail = require_trail(context.trail)
    nobody = Grants(roots=(), roles=dict.fromkeys(Role, frozenset()))
    with opened(context) as (plan_files, folder):
        records = Records(trail, nobody)
        replay = Replay(trail=trail, ledger=open_ledger(context), plan_files=plan_files, records=records)
        found = History(folder=folder, plan_files=plan_files, replay=replay, trail=trail).report(plan_hash)
    text = indent(render(found)).decode() + "\n" if is_json else render_text(found)
    return CommandResult(exit_code=FINDINGS if has_problems(found) else 0, stdout=text, is_exact=is_json)


def run_stop(context: CommandContext, *, by: str, reason: str) -> CommandResult:
    """Refuse every change in the workspace from now on. A change that is being made is finished or undone."""
    root = str(context.root.resolve(strict=True))
    stop = Stop(root=root, by=by, at=render_timestamp(context.now()), reason=plain_text(reason, _MAX_REASON))
    Stops(context.state / STOPS).add(stop)
    return CommandResult(stderr=f"stopped {root}; `strictwire workspace resume` lifts it\n")


def run_resume(context: CommandContext) -> CommandResult:
    """Undo change sets that a dead process left half done, name leftover files, and lift the stop."""
    root = context.root.resolve(strict=True)
    found = root.stat()
    undone = Journals(context.state / JOURNALS).recover(PathLocks(context.state / LOCKS), only=(found.st_dev, found.st_ino))
    stop = Stops(context.state / STOPS).remove(str(root))
    lines = [f"undone   {undone} interrupted change sets\n"] if undone else []
    lines += [
        f"left     {path.relative_to(root)} (compare it and remove it)\n" for path in sorted(root.rglob(f"{TEMPORARY}*"))
    ]
    lines.append(f"resumed  {root}\n" if stop is not None else f"running  {root} was not stopped\n")
    return CommandResult(stdout="".join(lines))

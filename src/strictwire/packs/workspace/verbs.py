"""The commands of `strictwire plan` and `strictwire workspace` as plain functions: parsed options in, result out. They print
nothing and ask nothing.

Exit codes: 0 ok, 100 findings, 1 the command failed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from strictwire.audit.view import TrailView
from strictwire.canon.json import JsonObject, render
from strictwire.fault.failure import Refused, fail
from strictwire.packs.kit.jail import Jail, RootRefused
from strictwire.packs.kit.staging import TEMPORARY
from strictwire.packs.workspace.archive import Archive
from strictwire.packs.workspace.attest.check import TrustedKeys, check_bundle
from strictwire.packs.workspace.confined import find_missing_measure, remedy
from strictwire.packs.workspace.content import MAX_FILE
from strictwire.packs.workspace.diff import FindBytes, render_each, render_net
from strictwire.packs.workspace.journal import maybe_hash
from strictwire.packs.workspace.ledger import Change, Ledger
from strictwire.packs.workspace.lock_files import LockFiles
from strictwire.packs.workspace.pack import CHANGES, CONTENTS, CREATIONS, KEY, PRESENCE, SESSION_LOCKS
from strictwire.packs.workspace.planning import HOURS, commands_of
from strictwire.packs.workspace.plans.approval import KeyRefused, open_signer
from strictwire.packs.workspace.plans.creations import Creations
from strictwire.packs.workspace.plans.lint import Linted, lint
from strictwire.packs.workspace.plans.model import Operation, Phase, Plan
from strictwire.packs.workspace.plans.plan_files import NO_RECORD, PlanFiles, plan_path
from strictwire.packs.workspace.plans.plan_markdown import body_hash, render_plan, split_hash
from strictwire.packs.workspace.plans.scope import workspace_id
from strictwire.packs.workspace.presence import read_presence
from strictwire.packs.workspace.records import last_records
from strictwire.packs.workspace.refusal import refuse
from strictwire.packs.workspace.roles import Role
from strictwire.packs.workspace.timestamps import render_timestamp

FINDINGS: Final = 100
FAILED: Final = 1

_OPEN: Final = frozenset({"approved", "proposed"})
"""States of plans that `workspace status` lists."""

_LAST: Final = 10
"""Records that `workspace status` shows."""

_MAX_PERMITTED: Final = 12
"""Paths and commands that are repeated before an approval: with the prompt they fit on a screen."""

_HASH: Final = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandResult:
    """The result of a command: its exit code and its output."""

    exit_code: int = 0
    stdout: str = ""
    stderr: str = ""
    is_exact: bool = False
    """Whether stdout is a file, a patch or JSON, which must not be altered unless it is shown on a terminal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedWorkspace:
    """A workspace folder that was opened for a command."""

    root: str
    own: Jail


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandContext:
    """What a command works with: the workspace, the state of the server, and a clock."""

    root: Path
    state: Path
    """State folder of the server's packs, with the signing key."""
    state_variable: str = "XDG_STATE_HOME"
    """Environment variable that selects the state folder."""
    now: Callable[[], float]
    trail: TrailView | None = None


def run_new(context: CommandContext, *, author: str, draft: str | None) -> CommandResult:
    """Without a draft, print a plan template on stdout. With a draft, save it as a plan and print its hash."""
    if draft is None:
        return CommandResult(stdout=split_hash(render_plan(_template(context, author)))[1], is_exact=True)
    text = _with_hash(draft)
    linted = lint(text)
    if not linted.passed:
        return _findings(linted)
    with opened(context) as (plan_files, folder):
        plan_hash = plan_files.save(folder, text, author=author)
        return CommandResult(
            stdout=f"{plan_hash}\n", stderr=f"wrote {plan_path(plan_hash)}; have it approved by someone else\n"
        )


def run_lint(context: CommandContext, *, text: str | None, plan_hash: str | None) -> CommandResult:
    """Lint a text, with or without a hash line, or a plan of the workspace by its hash."""
    if text is not None:
        return _findings(lint(text if split_hash(text)[0] else _with_hash(text)))
    with opened(context) as (plan_files, folder):
        found = plan_files.read(folder, plan_hash or "")
        return _findings(lint(found, expected_hash=plan_hash))


def _with_hash(draft: str) -> str:
    body = split_hash(draft)[1] if split_hash(draft)[0] else draft
    return f"PLAN_HASH: {body_hash(body)}\n{body}"


def find_plan(context: CommandContext, given: str | None) -> str:
    """Return the hash of a plan that waits for approval: the only one, or the only one that begins with what was given.

    Raises Refused: PLAN_NOT_FOUND if there is none or more than one."""
    with opened(context) as (plan_files, folder):
        hashes = [each for each in plan_files.hashes(folder) if given is None or each.startswith(given)]
        waiting = [each for each in hashes if plan_files.summary(folder, each)["state"] == "proposed"]
    found = waiting if given is None else hashes
    if len(found) == 1:
        return found[0]
    which = "waits for approval" if given is None else f"begins with {given!r}"
    text = f"no plan {which}" if not found else f"{len(found)} plans: give more of the hash"
    raise Refused(fail("PLAN_NOT_FOUND", text=f"{text}; run `strictwire plan list`"))


def review_plan(context: CommandContext, *, plan_hash: str, approver: str) -> str:
    """Return what a person reads before approving a plan: the text whose hash was verified, its author, and what it permits.

    Raises Refused as `run_approve` would, so that no person types a code in vain."""
    with opened(context) as (plan_files, folder):
        try:
            found = plan_files.read_approvable(folder, plan_hash, approver=approver)
        except Refused as exc:
            if exc.failure.details.get("reason") != NO_RECORD:
                raise
            raise refuse("PLAN_ENFORCEMENT_FAILED", explain_no_record(context), NO_RECORD) from exc
    head = f"plan {plan_hash}; author: {found.author}; {found.text.count(chr(10))} lines"
    return f"{found.text}\n" + "".join(f"{line}\n" for line in (head, *_permitted(found.plan)))


def _permitted(plan: Plan) -> Iterator[str]:
    """Yield what a plan permits, to be shown after its text: a long one scrolls off the screen."""
    operations = sorted({each.value for phase in plan.phases for each in phase.allowed})
    yield f"permits  {', '.join(operations)}"
    for word, values in (("in", plan.paths), ("runs", [render(list(each)).decode() for each in commands_of(plan)])):
        yield from (f"{word:<8} {each}" for each in values[:_MAX_PERMITTED])
        if len(values) > _MAX_PERMITTED:
            yield f"{word:<8} {len(values) - _MAX_PERMITTED} more: read them in the plan"


def explain_no_record(context: CommandContext) -> str:
    """Return why a plan in the workspace can be unknown here: its server has another state folder, or it was copied."""
    return (
        f"the state folder {context.state.parent} has no record of who created this plan. If the server that created it has "
        f"another state folder, run the command with the same {context.state_variable} as that server. A plan that was "
        "copied into docs/plans must be created again, with create_plan or plan new"
    )


def run_approve(context: CommandContext, *, plan_hash: str, approver: str) -> CommandResult:
    """Approve a plan as a person at the terminal."""
    with opened(context) as (plan_files, folder):
        approval = plan_files.approve(folder, plan_hash, approver=approver)
        return CommandResult(stderr=f"approved {plan_hash} as {approval.approver}\n")


def run_list(context: CommandContext) -> CommandResult:
    """One line per plan: hash, state, expiry, title."""
    with opened(context) as (plan_files, folder):
        plans = [plan_files.summary(folder, name) for name in plan_files.hashes(folder)]
    return CommandResult(stdout="".join(map(_line, plans)))


def _line(plan: JsonObject) -> str:
    return f"{plan['plan_hash']}  {plan['state']:<15} {plan['expires_at'] or '-':<20} {plan['title'] or '-'}\n"


def run_diff(
    context: CommandContext, *, plan_hash: str, phase_id: str | None = None, is_each: bool = False
) -> CommandResult:
    """Print what a plan changed: one diff per path, or one per change."""
    with opened(context) as (plan_files, folder):
        ledger = open_ledger(context)
        changes = ledger.read(workspace_id(folder.root), plan_hash)
        if not changes:
            # Raises PLAN_NOT_FOUND if there is no such plan.
            plan_files.read(folder, plan_hash)
            return CommandResult(stderr="no files were changed under this plan\n")
        shown = [each for each in changes if phase_id in (None, each.phase_id)]
        render_diff = render_each if is_each else render_net
        return CommandResult(stdout=render_diff(shown, _finder(ledger, folder, shown)), is_exact=True)


def open_ledger(context: CommandContext) -> Ledger:
    """Return the ledger of the server, for reading."""
    return Ledger(context.state / CHANGES, Archive(context.state / CONTENTS, limit=0), now=context.now)


def _finder(ledger: Ledger, folder: OpenedWorkspace, changes: list[Change]) -> FindBytes:
    """Return a function from hash to bytes, which looks in the archive and in the current files."""
    paths = {each.after: each.path for change in changes for each in change.files if each.after is not None}

    def find(sha256: str) -> bytes | None:
        kept = ledger.archive.maybe_get(sha256)
        if kept is not None or sha256 not in paths or maybe_hash(folder.own, paths[sha256]) != sha256:
            return kept
        return folder.own.read(paths[sha256], limit=MAX_FILE)

    return find


def run_show(context: CommandContext, *, plan_hash: str) -> CommandResult:
    """Print the text of a plan on stdout, and on stderr its state, author and approver."""
    with opened(context) as (plan_files, folder):
        each = plan_files.summary(folder, plan_hash)
        about = f"state: {each['state']}; author: {each['author'] or '-'}; approved by: {each['approver'] or 'nobody'}\n"
        return CommandResult(stdout=plan_files.read(folder, plan_hash), stderr=about, is_exact=True)


def run_status(context: CommandContext) -> CommandResult:
    """Print the state of a workspace. Exit 100 if a crash has left files behind."""
    root = context.root.resolve()
    with opened(context) as (plan_files, folder):
        plans = [plan_files.summary(folder, name) for name in plan_files.hashes(folder)]
        keys = [f"key      {plan_files.verifier.text} (workspace)"]
    left = sorted(str(path.relative_to(root)) for path in root.rglob(f"{TEMPORARY}*"))
    states = Counter(str(each["state"]) for each in plans)
    counts = ", ".join(f"{count} {state}" for state, count in sorted(states.items())) or "none"
    reports = len(list(root.glob("docs/reports/*.md")))
    lines = [f"root     {root}", f"id       {workspace_id(str(root))}", *keys, f"plans    {counts}", f"reports  {reports}"]
    lines += [f"open     {_line(each).rstrip()}" for each in plans if each["state"] in _OPEN]
    lines += [_sandbox(), *_present(context, str(root)), *_last_records(context, str(root))]
    lines += [f"left     {path} (left by an interrupted write; compare it and remove it)" for path in left]
    return CommandResult(exit_code=FINDINGS if left else 0, stdout="".join(f"{line}\n" for line in lines))


def _sandbox() -> str:
    missing = find_missing_measure()
    return (
        "sandbox  ok" if missing is None else f"sandbox  {missing} missing: no verification command runs. {remedy(missing)}"
    )


def _present(context: CommandContext, root: str) -> list[str]:
    sessions = [
        f"session  {each['session']}… {each['role']:<11} {each['principal']}, until {each['expires_at']}, pid {each['pid']}"
        for each in read_presence(context.state / PRESENCE, root)
    ]
    locks = [
        f"lock     {owner.role:<11} {owner.principal}: {lock.tool} failed with {lock.code} at {lock.at}"
        for owner, lock in LockFiles(context.state / SESSION_LOCKS).in_folder(root)
    ]
    return [*(sessions or ["session  none"]), *locks]


def _last_records(context: CommandContext, root: str) -> list[str]:
    """Return the newest records of the workspace. A trail that cannot be read is reported in the output, not raised."""
    if context.trail is None:
        return []
    try:
        records = last_records(context.trail, root, count=_LAST)
    except Refused as exc:
        reason = exc.failure.details.get("reason", exc.failure.code)
        return ["record   none" if reason == "folder_missing" else f"record   the trail cannot be read: {reason}"]
    return [
        f"record   {each['seq']} {each['timestamp']} {each['tool_name']} {each.get('error_code') or each.get('outcome')} "
        f"by {each['principal']}"
        for each in records
    ] or ["record   none"]


def run_check(raw: bytes, trusted: TrustedKeys) -> CommandResult:
    """Check an attestation bundle without a server. Exit 100 with the first problem."""
    checked = check_bundle(raw, trusted)
    if checked.problem is not None:
        problem = checked.problem
        return CommandResult(
            exit_code=FINDINGS, stdout=f"BROKEN: {problem.check} {problem.subject[:200]}: {problem.message}\n"
        )
    bundle = checked.bundle or {}
    lines = [f"ok: bundle {bundle['bundle_id']} of plan {bundle['plan']['hash']}, {len(bundle['records'])} records"]
    if not checked.is_trusted:
        lines += [f"signed with a key from the bundle, which was not verified: {key}" for key in bundle["keys"].values()]
    return CommandResult(stdout="".join(f"{line}\n" for line in lines))


def run_command(verb: Callable[[], CommandResult]) -> CommandResult:
    """Run a command. An expected failure becomes a result with exit code 1 and an error message."""
    try:
        return verb()
    except Refused as exc:
        return CommandResult(exit_code=FAILED, stderr=f"error: {exc.failure.text} ({exc.failure.code})\n")
    except (RootRefused, KeyRefused) as exc:
        return CommandResult(exit_code=FAILED, stderr=f"error: {exc}\n")
    except OSError as exc:
        return CommandResult(exit_code=FAILED, stderr=f"error: {exc.strerror}\n")


def is_hash(text: str) -> bool:
    """Return whether a text has the form of a plan hash."""
    return bool(_HASH.fullmatch(text))


@contextmanager
def opened(context: CommandContext) -> Iterator[tuple[PlanFiles, OpenedWorkspace]]:
    """Open the workspace and its plans. Raises RootRefused, KeyRefused, OSError."""
    root = str(context.root.resolve())
    signer = open_signer(context.state / KEY)
    plan_files = PlanFiles(signer, Creations(context.state / CREATIONS, signer), now=context.now)
    with Jail(root) as jail:
        yield plan_files, OpenedWorkspace(root=root, own=jail)


def _findings(linted: Linted) -> CommandResult:
    lines = [f"{each.line}: {each.code}: {each.message}\n" for each in linted.findings]
    return CommandResult(exit_code=FINDINGS if lines else 0, stdout="".join(lines) or f"{linted.hash}\n")


def _template(context: CommandContext, author: str) -> Plan:
    created = context.now()
    phase = Phase(
        title="First phase",
        id="PHASE_1",
        objective="Describe in words what this phase achieves",
        allowed=(Operation.CREATE, Operation.MODIFY),
        outcomes="Describe how success is recognised",
        stops="Describe when work must stop",
    )
    return Plan(
        title="Describe the purpose of this plan",
        role=Role.WINDSURF.value,
        author=author,
        workspace=workspace_id(str(context.root.resolve())),
        created=render_timestamp(created),
        expires=render_timestamp(created + HOURS * 3600),
        scope="Describe what is part of this plan and what is not.",
        phases=(phase,),
        paths=("src/**",),
        rollback="Describe what happens if a phase fails.",
    )

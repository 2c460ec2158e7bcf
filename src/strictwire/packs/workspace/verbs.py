"""The verbs for people as plain functions: parsed options in, exit code and text out. Prints nothing, asks nothing.

Exit codes: 0 fine, 100 findings, 1 could not run.
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
from strictwire.canon.json import JsonObject
from strictwire.fault.failure import Refused
from strictwire.packs.kit.jail import Jail, RootRefused
from strictwire.packs.kit.staging import TEMPORARY
from strictwire.packs.workspace.archive import Archive
from strictwire.packs.workspace.attest.check import Trusted, check_bundle
from strictwire.packs.workspace.content import MAX_FILE
from strictwire.packs.workspace.diff import FindBytes, render_each, render_net
from strictwire.packs.workspace.journal import maybe_hash
from strictwire.packs.workspace.ledger import Change, Ledger
from strictwire.packs.workspace.moments import render_moment
from strictwire.packs.workspace.pack import CHANGES, CONTENTS, ROSTER
from strictwire.packs.workspace.planning import HOURS
from strictwire.packs.workspace.plans.approval import KeyRefused, open_sealing
from strictwire.packs.workspace.plans.lint import Linted, lint
from strictwire.packs.workspace.plans.model import Operation, Phase, Plan
from strictwire.packs.workspace.plans.scope import workspace_id
from strictwire.packs.workspace.plans.shelf import Shelf, plan_path
from strictwire.packs.workspace.plans.text import body_hash, render_plan, split_hash
from strictwire.packs.workspace.records import last_records
from strictwire.packs.workspace.roles import Role
from strictwire.packs.workspace.roster import read_roster

FINDINGS: Final = 100
COULD_NOT: Final = 1

_OPEN: Final = frozenset({"approved", "proposed"})
_LAST: Final = 10
"""Records that a status shows."""

_HASH: Final = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a verb gives."""

    exit_code: int = 0
    stdout: str = ""
    stderr: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """A workspace that a person named."""

    root: str
    jail: Jail


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a verb works: the workspace, the key with which the server signs, and the time."""

    root: Path
    key: Path
    now: Callable[[], float]
    state: Path | None = None
    """Where the server's packs keep their files; without it nothing is known of changes and sessions."""
    trail: TrailView | None = None


def run_new(place: Place, *, author: str, draft: str | None) -> Answer:
    """Without a draft a plan to fill in, on stdout; with one the plan is kept and its hash told."""
    if draft is None:
        return Answer(stdout=split_hash(render_plan(_template(place, author)))[1])
    text = _with_hash(draft)
    linted = lint(text)
    if not linted.passed:
        return _findings(linted)
    with _opened(place) as (shelf, home):
        plan_hash = shelf.put(home, text)
        return Answer(stdout=f"{plan_hash}\n", stderr=f"wrote {plan_path(plan_hash)}; have it approved by someone else\n")


def run_lint(place: Place, *, text: str | None, plan_hash: str | None) -> Answer:
    """Lint a text, with or without a hash line, or a plan of the workspace by its hash."""
    if text is not None:
        return _findings(lint(text if split_hash(text)[0] else _with_hash(text)))
    with _opened(place) as (shelf, home):
        found = shelf.read(home, plan_hash or "")
        return _findings(lint(found, expected_hash=plan_hash))


def _with_hash(draft: str) -> str:
    body = split_hash(draft)[1] if split_hash(draft)[0] else draft
    return f"PLAN_HASH: {body_hash(body)}\n{body}"


def run_approve(place: Place, *, plan_hash: str, approver: str) -> Answer:
    """Vouch for a plan as a person at the terminal."""
    with _opened(place) as (shelf, home):
        approval = shelf.approve(home, plan_hash, approver=approver)
        return Answer(stderr=f"approved {plan_hash} as {approval.approver}\n")


def run_list(place: Place) -> Answer:
    """One line a plan: hash, state, end, title."""
    with _opened(place) as (shelf, home):
        plans = [shelf.summary(home, name) for name in shelf.names(home)]
    return Answer(stdout="".join(map(_line, plans)))


def _line(plan: JsonObject) -> str:
    return f"{plan['plan_hash']}  {plan['state']:<15} {plan['expires_at'] or '-':<20} {plan['title'] or '-'}\n"


def run_diff(place: Place, *, plan_hash: str, phase_id: str | None = None, is_each: bool = False) -> Answer:
    """What a plan changed: one diff a path, or one for each change."""
    with _opened(place) as (shelf, home):
        ledger = _ledger(place)
        changes = ledger.read(workspace_id(home.root), plan_hash)
        if not changes:
            # A plan that is not there is told as such.
            shelf.read(home, plan_hash)
            return Answer(stderr="nothing was changed under this plan\n")
        shown = [each for each in changes if phase_id in (None, each.phase_id)]
        render = render_each if is_each else render_net
        return Answer(stdout=render(shown, _finder(ledger, home, shown)))


def _ledger(place: Place) -> Ledger:
    """The server's, to read."""
    state = place.state or place.key.parent
    return Ledger(state / CHANGES, Archive(state / CONTENTS, limit=0), now=place.now)


def _finder(ledger: Ledger, home: Folder, changes: list[Change]) -> FindBytes:
    """Bytes by hash: from the archive, or from a file that still holds them."""
    paths = {each.after: each.path for change in changes for each in change.files if each.after is not None}

    def find(sha256: str) -> bytes | None:
        kept = ledger.archive.maybe_get(sha256)
        if kept is not None or sha256 not in paths or maybe_hash(home.jail, paths[sha256]) != sha256:
            return kept
        return home.jail.read(paths[sha256], limit=MAX_FILE)

    return find


def run_show(place: Place, *, plan_hash: str) -> Answer:
    """The text of a plan on stdout; on stderr who made it, who approved it, and whether it can be used."""
    with _opened(place) as (shelf, home):
        each = shelf.summary(home, plan_hash)
        about = f"state: {each['state']}; author: {each['author'] or '-'}; approved by: {each['approver'] or 'nobody'}\n"
        return Answer(stdout=shelf.read(home, plan_hash), stderr=about)


def run_status(place: Place) -> Answer:
    """What there is to know of a workspace; exit 100 if a crash has left files behind."""
    root = place.root.resolve()
    with _opened(place) as (shelf, home):
        plans = [shelf.summary(home, name) for name in shelf.names(home)]
        keys = [f"key      {shelf.checking.text} (workspace)"]
    left = sorted(str(path.relative_to(root)) for path in root.rglob(f"{TEMPORARY}*"))
    states = Counter(str(each["state"]) for each in plans)
    told = ", ".join(f"{count} {state}" for state, count in sorted(states.items())) or "none"
    reports = len(list(root.glob("docs/reports/*.md")))
    lines = [f"root     {root}", f"id       {workspace_id(str(root))}", *keys, f"plans    {told}", f"reports  {reports}"]
    lines += [f"open     {_line(each).rstrip()}" for each in plans if each["state"] in _OPEN]
    lines += [*_present(place, str(root)), *_last_records(place, str(root))]
    lines += [f"left     {path} (of a write that was cut off; compare it and remove it)" for path in left]
    return Answer(exit_code=FINDINGS if left else 0, stdout="".join(f"{line}\n" for line in lines))


def _present(place: Place, root: str) -> list[str]:
    if place.state is None:
        return []
    present = read_roster(place.state / ROSTER, root)
    sessions = [
        f"session  {each['session']}… {each['role']:<11} {each['principal']}, until {each['expires_at']}, pid {each['pid']}"
        for each in present.sessions
    ]
    locks = [
        f"lock     {each['role']:<11} {each['principal']}: {each['tool']} failed with {each['code']} at {each['at']}"
        for each in present.locks
    ]
    return [*(sessions or ["session  none"]), *locks]


def _last_records(place: Place, root: str) -> list[str]:
    """The newest records of the workspace, newest first; a trail that cannot be read is told, not raised."""
    if place.trail is None:
        return []
    try:
        records = last_records(place.trail, root, count=_LAST)
    except Refused as exc:
        reason = exc.failure.details.get("reason", exc.failure.code)
        return ["record   none" if reason == "folder_missing" else f"record   the trail cannot be read: {reason}"]
    return [
        f"record   {each['seq']} {each['timestamp']} {each['tool_name']} {each.get('error_code') or each.get('outcome')} "
        f"by {each['principal']}"
        for each in records
    ] or ["record   none"]


def run_check(raw: bytes, trusted: Trusted) -> Answer:
    """Judge an attestation bundle without a server. Exit 100 with the first thing that does not hold."""
    checked = check_bundle(raw, trusted)
    if checked.problem is not None:
        told = checked.problem
        return Answer(exit_code=FINDINGS, stdout=f"BROKEN: {told.check} {told.subject[:200]}: {told.message}\n")
    bundle = checked.bundle or {}
    lines = [f"ok: bundle {bundle['bundle_id']} of plan {bundle['plan']['hash']}, {len(bundle['records'])} records"]
    if not checked.is_trusted:
        lines += [f"signed with the keys in it, which were not compared: {key}" for key in bundle["keys"].values()]
    return Answer(stdout="".join(f"{line}\n" for line in lines))


def guarded(verb: Callable[[], Answer]) -> Answer:
    """The answer of a verb, or the sentence why it could not run."""
    try:
        return verb()
    except Refused as exc:
        return Answer(exit_code=COULD_NOT, stderr=f"error: {exc.failure.text} ({exc.failure.code})\n")
    except (RootRefused, KeyRefused) as exc:
        return Answer(exit_code=COULD_NOT, stderr=f"error: {exc}\n")
    except OSError as exc:
        return Answer(exit_code=COULD_NOT, stderr=f"error: {exc.strerror}\n")


def is_hash(text: str) -> bool:
    """Whether a text is the hash of a plan."""
    return bool(_HASH.fullmatch(text))


@contextmanager
def _opened(place: Place) -> Iterator[tuple[Shelf, Folder]]:
    root = str(place.root.resolve())
    with Jail(root) as jail:
        yield Shelf(open_sealing(place.key), now=place.now), Folder(root=root, jail=jail)


def _findings(linted: Linted) -> Answer:
    lines = [f"{each.line}: {each.code}: {each.message}\n" for each in linted.findings]
    return Answer(exit_code=FINDINGS if lines else 0, stdout="".join(lines) or f"{linted.hash}\n")


def _template(place: Place, author: str) -> Plan:
    created = place.now()
    phase = Phase(
        title="First phase",
        id="PHASE_1",
        objective="Say in words what this phase reaches",
        allowed=(Operation.CREATE, Operation.MODIFY),
        outcomes="Say how success is recognised",
        stops="Say when work stops",
    )
    return Plan(
        title="Say what this plan is for",
        role=Role.WINDSURF.value,
        author=author,
        workspace=workspace_id(str(place.root.resolve())),
        created=render_moment(created),
        expires=render_moment(created + HOURS * 3600),
        scope="Say what is part of this plan and what is not.",
        phases=(phase,),
        paths=("src/**",),
        rollback="Say what happens when a phase fails.",
    )

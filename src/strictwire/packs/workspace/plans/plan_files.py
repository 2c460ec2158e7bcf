"""The plan files of a workspace: `docs/plans/<hash>.md`, and beside each its approval, if it has one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol

from strictwire.canon.json import JsonObject
from strictwire.fault.failure import Refused
from strictwire.packs.kit.jail import Jail, Kind
from strictwire.packs.kit.path import parse_path
from strictwire.packs.kit.staging import Existing
from strictwire.packs.kit.text import NotText, decode
from strictwire.packs.workspace.file_operations import make_folders
from strictwire.packs.workspace.plans.approval import Approval, Creation, Signer, Verifier
from strictwire.packs.workspace.plans.creations import Creations
from strictwire.packs.workspace.plans.lint import MAX_PLAN, Linted, lint
from strictwire.packs.workspace.plans.model import Plan
from strictwire.packs.workspace.plans.scope import workspace_id
from strictwire.packs.workspace.refusal import refuse
from strictwire.packs.workspace.timestamps import maybe_timestamp, render_timestamp

FOLDER: Final = "docs/plans"
REPORTS: Final = "docs/reports"

TERMINAL: Final = "terminal:"
"""Prefix of the name of a person at a terminal. The rest is the name of the user, which is also a principal over stdio.
What a user's agent has created, the user can approve at a terminal; what the user has created, no agent of the user can."""

NO_RECORD: Final = "author"
"""Reason of a refusal: the state folder has no record of who created the plan."""

HOW_TO_APPROVE: Final = (
    "someone other than its author approves it: a person at a terminal with `strictwire plan approve`, or an approver "
    "with approve_plan"
)
"""The ways to an approval, for every refusal that needs one. It names no approver: callers need not know them."""

_MAX_APPROVAL: Final = 16 * 1024
_MAX_FILES: Final = 10_000
_ABSENT: Final = frozenset({"FILE_NOT_FOUND", "PATH_NOT_FOUND"})


class WorkspaceFolder(Protocol):
    """A workspace folder: that of a session, or one that was opened for a command."""

    @property
    def root(self) -> str:
        """Absolute path with links resolved."""

    @property
    def own(self) -> Jail:
        """The jail on this folder for strictwire's own files, which its guard would refuse to change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovablePlan:
    """A plan that can be approved, and the text that was verified: a person must read exactly this text."""

    plan: Plan
    text: str
    author: str


class PlanFiles:
    """See the module docstring. `now` returns seconds since 1970."""

    def __init__(self, signer: Signer, creations: Creations, *, now: Callable[[], float]) -> None:
        self._signer = signer
        self._creations = creations
        self._now = now

    @property
    def verifier(self) -> Verifier:
        """The public key for approvals."""
        return self._signer.verifier

    def now(self) -> float:
        """Return seconds since 1970."""
        return self._now()

    def save(self, folder: WorkspaceFolder, text: str, *, author: str) -> str:
        """Save a plan under its hash, record who created it, and return the hash. If it exists already, nothing changes.

        Raises Refused: PLAN_ENFORCEMENT_FAILED if it has lint findings or names another author; the codes of Jail.write.
        """
        linted = lint(text)
        if _check_lint(linted).author != author:
            text = f"The plan must name its creator: Author: {author}"
            raise refuse("PLAN_ENFORCEMENT_FAILED", text, "author")
        self._creations.add(
            Creation(
                plan_hash=linted.hash,
                workspace=workspace_id(folder.root),
                author=author,
                created_at=render_timestamp(self._now()),
            )
        )
        path = plan_path(linted.hash)
        # Both exist before the first verification command runs, so that it cannot create them.
        for needed in (path, f"{REPORTS}/x"):
            make_folders(folder.own, parse_path(needed))
        # The name is the hash of the text, so a file with other content is not this plan and is replaced.
        if _maybe_read(folder, path, MAX_PLAN) != text.encode():
            folder.own.write(path, text.encode())
        return linted.hash

    def read(self, folder: WorkspaceFolder, plan_hash: str) -> str:
        """Return the text of a plan. Raises Refused: PLAN_NOT_FOUND; PLAN_ENFORCEMENT_FAILED if too large or not text."""
        raw = _maybe_read(folder, plan_path(plan_hash), MAX_PLAN)
        if raw is None:
            raise refuse(
                "PLAN_NOT_FOUND", "There is no plan with this hash in docs/plans; list_plans lists the existing ones"
            )
        try:
            return decode(raw)
        except NotText as exc:
            raise refuse("PLAN_ENFORCEMENT_FAILED", "The plan is not UTF-8", "lint", invariant_id="PLAN_HASH_MATCH") from exc

    def read_verified(self, folder: WorkspaceFolder, plan_hash: str) -> Plan:
        """Return a plan whose text has been checked against its hash. It may be expired.

        Raises Refused: PLAN_NOT_FOUND, PLAN_ENFORCEMENT_FAILED.
        """
        return self._read_verified(folder, plan_hash)[0]

    def _read_verified(self, folder: WorkspaceFolder, plan_hash: str) -> tuple[Plan, str]:
        text = self.read(folder, plan_hash)
        return _check_lint(lint(text, expected_hash=plan_hash)), text

    def read_usable(self, folder: WorkspaceFolder, plan_hash: str) -> Plan:
        """Return a plan that can be approved and used in this workspace now.

        Raises Refused: PLAN_NOT_FOUND; PLAN_ENFORCEMENT_FAILED for lint, hash, another workspace, expiry; in that order.
        """
        return self._read_usable(folder, plan_hash)[0]

    def _read_usable(self, folder: WorkspaceFolder, plan_hash: str) -> tuple[Plan, str]:
        plan, text = self._read_verified(folder, plan_hash)
        if plan.workspace != workspace_id(folder.root):
            raise refuse("PLAN_ENFORCEMENT_FAILED", "The plan belongs to another workspace", "other_workspace")
        if self._now() >= (maybe_timestamp(plan.expires) or 0):
            message = f"The plan expired at {plan.expires}; create and approve a new one"
            raise refuse("PLAN_ENFORCEMENT_FAILED", message, "expired")
        return plan, text

    def read_approvable(self, folder: WorkspaceFolder, plan_hash: str, *, approver: str) -> ApprovablePlan:
        """Return a plan that this approver can approve now.

        Raises Refused: the codes of `read_usable`; PLAN_ENFORCEMENT_FAILED if this server has no record of its creation;
        INSUFFICIENT_PERMISSIONS if the approver has created it; FILE_ALREADY_EXISTS if it is approved already.
        """
        plan, text = self._read_usable(folder, plan_hash)
        creation = self.maybe_creation(folder, plan_hash)
        if creation is None or creation.author != plan.author:
            message = "This server has no record of who created the plan; create it again with create_plan or plan new"
            raise refuse("PLAN_ENFORCEMENT_FAILED", message, NO_RECORD)
        if creation.author in (approver, f"{TERMINAL}{approver}"):
            message = f"The author of a plan cannot approve it; {HOW_TO_APPROVE}"
            raise refuse("INSUFFICIENT_PERMISSIONS", message, "own_plan")
        if self.maybe_approval(folder, plan_hash) is not None:
            raise _approved_already()
        return ApprovablePlan(plan=plan, text=text, author=creation.author)

    def approve(self, folder: WorkspaceFolder, plan_hash: str, *, approver: str) -> Approval:
        """Approve a plan. Raises Refused: the codes of `read_approvable`. Of two approvals at once, one is refused."""
        plan = self.read_approvable(folder, plan_hash, approver=approver).plan
        approval = Approval(
            plan_hash=plan_hash, workspace=plan.workspace, approver=approver, approved_at=render_timestamp(self._now())
        )
        # A file with an invalid signature is not an approval, and is replaced.
        is_absent = self.maybe_approval_file(folder, plan_hash) is None
        try:
            folder.own.write(
                approval_path(plan_hash), self._signer.sign(approval), Existing.REFUSE if is_absent else Existing.REPLACE
            )
        except Refused as exc:
            raise _approved_already() if exc.failure.code == "FILE_ALREADY_EXISTS" else exc from exc
        return approval

    def maybe_creation(self, folder: WorkspaceFolder, plan_hash: str) -> Creation | None:
        """Return the record of a plan's creation in this workspace; None if this server has none."""
        return self._creations.maybe_find(workspace_id(folder.root), plan_hash)

    def maybe_approval_file(self, folder: WorkspaceFolder, plan_hash: str) -> bytes | None:
        """Return the content of the approval file, valid or not; None if there is none."""
        return _maybe_read(folder, approval_path(plan_hash), _MAX_APPROVAL)

    def maybe_approval(self, folder: WorkspaceFolder, plan_hash: str) -> Approval | None:
        """Return the approval of a plan if it is valid in this workspace, otherwise None."""
        raw = self.maybe_approval_file(folder, plan_hash)
        found = self._signer.maybe_approval(raw) if raw is not None else None
        is_ours = found is not None and (found.plan_hash, found.workspace) == (plan_hash, workspace_id(folder.root))
        return found if is_ours else None

    def hashes(self, folder: WorkspaceFolder) -> list[str]:
        """Return the hashes of all plans, sorted."""
        try:
            listing = folder.own.list(FOLDER, limit=_MAX_FILES)
        except Refused as exc:
            if exc.failure.code in _ABSENT:
                return []
            raise
        stems = [name.removesuffix(".md") for name, kind in listing.entries if name.endswith(".md") and kind is Kind.FILE]
        return [stem for stem in stems if len(stem) == 64 and set(stem) <= set("0123456789abcdef")]

    def summary(self, folder: WorkspaceFolder, plan_hash: str) -> JsonObject:
        """Return a summary of a plan, with its state: whether a change under it would be accepted. The author is the one
        that was recorded; None if the plan was not created through this server."""
        linted = lint(self.read(folder, plan_hash), expected_hash=plan_hash)
        approval = self.maybe_approval(folder, plan_hash)
        creation = self.maybe_creation(folder, plan_hash)
        return {
            "plan_hash": plan_hash,
            "title": linted.plan.title if linted.plan else None,
            "role": linted.plan.role if linted.plan else None,
            "author": creation.author if creation else None,
            "expires_at": linted.plan.expires if linted.plan else None,
            "state": self._state(folder, plan_hash, approval),
            "approver": approval.approver if approval else None,
        }

    def _state(self, folder: WorkspaceFolder, plan_hash: str, approval: Approval | None) -> str:
        try:
            self.read_usable(folder, plan_hash)
        except Refused as exc:
            return str(exc.failure.details.get("reason", "lint"))
        return "approved" if approval else "proposed"


def plan_path(plan_hash: str) -> str:
    """Return the path of a plan."""
    return f"{FOLDER}/{plan_hash}.md"


def approval_path(plan_hash: str) -> str:
    """Return the path of an approval."""
    return f"{FOLDER}/{plan_hash}.approval.json"


def _approved_already() -> Refused:
    return refuse("FILE_ALREADY_EXISTS", "The plan is approved already", "approved")


def _check_lint(linted: Linted) -> Plan:
    """Raises Refused: PLAN_ENFORCEMENT_FAILED with the first finding; a wrong hash is reported before all others."""
    tampered = any(finding.code == "PLAN_HASH_MISMATCH" for finding in linted.findings)
    if tampered:
        text = "The text of the plan does not have the plan's hash; it was changed"
        raise refuse("PLAN_ENFORCEMENT_FAILED", text, "hash", invariant_id="PLAN_HASH_MATCH")
    if linted.plan is None or linted.findings:
        first = linted.findings[0]
        text = f"The plan has lint findings: {first.code}: {first.message}"
        raise refuse("PLAN_ENFORCEMENT_FAILED", text, "lint", finding=first.code)
    return linted.plan


def _maybe_read(folder: WorkspaceFolder, path: str, limit: int) -> bytes | None:
    try:
        return folder.own.read(path, limit=limit)
    except Refused as exc:
        if exc.failure.code in _ABSENT:
            return None
        if exc.failure.code == "CAP_EXCEEDED":
            raise refuse("PLAN_ENFORCEMENT_FAILED", "The file is larger than a plan may be", "too_large") from exc
        raise

"""The plans of a workspace as files: `docs/plans/<hash>.md`, and beside each its approval, if there is one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol

from strictwire.canon.json import JsonObject
from strictwire.fault.failure import Refused
from strictwire.packs.kit.jail import Jail, Kind
from strictwire.packs.kit.path import parse_path
from strictwire.packs.kit.text import NotText, decode
from strictwire.packs.workspace.moments import maybe_moment, render_moment
from strictwire.packs.workspace.names import make_folders
from strictwire.packs.workspace.plans.approval import Approval, Checking, Sealing
from strictwire.packs.workspace.plans.lint import MAX_PLAN, Linted, lint
from strictwire.packs.workspace.plans.model import Plan
from strictwire.packs.workspace.plans.scope import workspace_id
from strictwire.packs.workspace.refusal import refuse

FOLDER: Final = "docs/plans"

_MAX_APPROVAL: Final = 16 * 1024
_MAX_FILES: Final = 10_000
_ABSENT: Final = frozenset({"FILE_NOT_FOUND", "PATH_NOT_FOUND"})


class Home(Protocol):
    """The workspace whose plans are meant: a session, or a folder that a person named."""

    @property
    def root(self) -> str:
        """Absolute, links resolved."""

    @property
    def jail(self) -> Jail:
        """The same folder, pinned."""


class Shelf:
    """See the module. `now` gives seconds since 1970."""

    def __init__(self, sealing: Sealing, *, now: Callable[[], float]) -> None:
        self._sealing = sealing
        self._now = now

    @property
    def checking(self) -> Checking:
        """The public half of the key that approvals are signed with."""
        return self._sealing.checking

    def now(self) -> float:
        """Seconds since 1970."""
        return self._now()

    def put(self, home: Home, text: str) -> str:
        """Keep a plan under its hash, which is returned. A plan that is there already is the same plan.

        Raises Refused: PLAN_ENFORCEMENT_FAILED it does not pass its lint; the codes of Jail.write.
        """
        linted = lint(text)
        _check_lint(linted)
        path = plan_path(linted.hash)
        make_folders(home.jail, parse_path(path))
        # The name is the hash of the text, so whatever else stands there is not this plan.
        if _maybe_read(home, path, MAX_PLAN) != text.encode():
            home.jail.write(path, text.encode())
        return linted.hash

    def read(self, home: Home, plan_hash: str) -> str:
        """The text of a plan. Raises Refused: PLAN_NOT_FOUND; PLAN_ENFORCEMENT_FAILED too large, or not text."""
        raw = _maybe_read(home, plan_path(plan_hash), MAX_PLAN)
        if raw is None:
            raise refuse("PLAN_NOT_FOUND", "There is no plan with this hash in docs/plans; list_plans names those there are")
        try:
            return decode(raw)
        except NotText as exc:
            raise refuse("PLAN_ENFORCEMENT_FAILED", "The plan is not UTF-8", "lint", invariant_id="PLAN_HASH_MATCH") from exc

    def whole(self, home: Home, plan_hash: str) -> Plan:
        """A plan that is the text its hash names, be it expired.

        Raises Refused: PLAN_NOT_FOUND, PLAN_ENFORCEMENT_FAILED.
        """
        return _check_lint(lint(self.read(home, plan_hash), expected_hash=plan_hash))

    def usable(self, home: Home, plan_hash: str) -> Plan:
        """A plan that may be approved and used here and now.

        Raises Refused: PLAN_NOT_FOUND; PLAN_ENFORCEMENT_FAILED lint, hash, another workspace, expired; in that order.
        """
        plan = self.whole(home, plan_hash)
        if plan.workspace != workspace_id(home.root):
            raise refuse("PLAN_ENFORCEMENT_FAILED", "The plan belongs to another workspace", "other_workspace")
        if self._now() >= (maybe_moment(plan.expires) or 0):
            text = f"The plan expired at {plan.expires}; have a new one made and approved"
            raise refuse("PLAN_ENFORCEMENT_FAILED", text, "expired")
        return plan

    def approve(self, home: Home, plan_hash: str, *, approver: str) -> Approval:
        """Vouch for a plan. Raises Refused: the codes of `usable`, FILE_ALREADY_EXISTS it is approved already."""
        plan = self.usable(home, plan_hash)
        approval = Approval(
            plan_hash=plan_hash, workspace=plan.workspace, approver=approver, approved_at=render_moment(self._now())
        )
        if self.maybe_approval(home, plan_hash) is not None:
            raise refuse("FILE_ALREADY_EXISTS", "The plan is approved already", "approved")
        # An approval that does not verify vouches for nothing, and is replaced.
        home.jail.write(approval_path(plan_hash), self._sealing.sign(approval))
        return approval

    def maybe_approval_file(self, home: Home, plan_hash: str) -> bytes | None:
        """The file beside a plan, valid or not."""
        return _maybe_read(home, approval_path(plan_hash), _MAX_APPROVAL)

    def maybe_approval(self, home: Home, plan_hash: str) -> Approval | None:
        """The approval of a plan, if there is one that is valid here."""
        raw = self.maybe_approval_file(home, plan_hash)
        found = self._sealing.maybe_approval(raw) if raw is not None else None
        is_ours = found is not None and (found.plan_hash, found.workspace) == (plan_hash, workspace_id(home.root))
        return found if is_ours else None

    def names(self, home: Home) -> list[str]:
        """The hashes of the plans that are there, sorted."""
        try:
            listing = home.jail.list(FOLDER, limit=_MAX_FILES)
        except Refused as exc:
            if exc.failure.code in _ABSENT:
                return []
            raise
        stems = [name.removesuffix(".md") for name, kind in listing.entries if name.endswith(".md") and kind is Kind.FILE]
        return [stem for stem in stems if len(stem) == 64 and set(stem) <= set("0123456789abcdef")]

    def summary(self, home: Home, plan_hash: str) -> JsonObject:
        """One line about a plan: what it is, and whether a write under it would be accepted."""
        linted = lint(self.read(home, plan_hash), expected_hash=plan_hash)
        approval = self.maybe_approval(home, plan_hash)
        return {
            "plan_hash": plan_hash,
            "title": linted.plan.title if linted.plan else None,
            "role": linted.plan.role if linted.plan else None,
            "author": linted.plan.author if linted.plan else None,
            "expires_at": linted.plan.expires if linted.plan else None,
            "state": self._state(home, plan_hash, approval),
            "approver": approval.approver if approval else None,
        }

    def _state(self, home: Home, plan_hash: str, approval: Approval | None) -> str:
        try:
            self.usable(home, plan_hash)
        except Refused as exc:
            return str(exc.failure.details.get("reason", "lint"))
        return "approved" if approval else "proposed"


def plan_path(plan_hash: str) -> str:
    """Where a plan stands."""
    return f"{FOLDER}/{plan_hash}.md"


def approval_path(plan_hash: str) -> str:
    """Where its approval stands."""
    return f"{FOLDER}/{plan_hash}.approval.json"


def _check_lint(linted: Linted) -> Plan:
    """Raises Refused: PLAN_ENFORCEMENT_FAILED with the first finding; the hash is told apart from the rest."""
    tampered = any(finding.code == "PLAN_HASH_MISMATCH" for finding in linted.findings)
    if tampered:
        text = "The plan is not the text that its hash names; it was changed"
        raise refuse("PLAN_ENFORCEMENT_FAILED", text, "hash", invariant_id="PLAN_HASH_MATCH")
    if linted.plan is None or linted.findings:
        first = linted.findings[0]
        text = f"The plan does not pass its lint: {first.code}: {first.message}"
        raise refuse("PLAN_ENFORCEMENT_FAILED", text, "lint", finding=first.code)
    return linted.plan


def _maybe_read(home: Home, path: str, limit: int) -> bytes | None:
    try:
        return home.jail.read(path, limit=limit)
    except Refused as exc:
        if exc.failure.code in _ABSENT:
            return None
        if exc.failure.code == "CAP_EXCEEDED":
            raise refuse("PLAN_ENFORCEMENT_FAILED", "The file is larger than a plan may be", "too_large") from exc
        raise

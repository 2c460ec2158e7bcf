"""create_plan, lint_plan, approve_plan, list_plans, read_plan."""

from __future__ import annotations

from dataclasses import asdict
from typing import Final

from strictwire.canon.json import JsonObject
from strictwire.packs.workspace.book import Session
from strictwire.packs.workspace.grants import Grants
from strictwire.packs.workspace.moments import render_moment
from strictwire.packs.workspace.plans.lint import Linted, lint
from strictwire.packs.workspace.plans.model import Ban, Operation, Phase, Plan
from strictwire.packs.workspace.plans.scope import workspace_id
from strictwire.packs.workspace.plans.shelf import Shelf, plan_path
from strictwire.packs.workspace.plans.text import read_plan, render_plan
from strictwire.packs.workspace.refusal import refuse
from strictwire.packs.workspace.roles import Role

HOURS: Final = 7 * 24
"""How long a plan can be used if its author does not say: a week."""

MAX_LISTED: Final = 1000


class Planning:
    """The tools about plans."""

    def __init__(self, shelf: Shelf, grants: Grants) -> None:
        self._shelf = shelf
        self._grants = grants

    def create(self, session: Session, arguments: JsonObject) -> JsonObject:
        """create_plan. Author, workspace and times are set here, never by the caller.

        Raises Refused: INVALID_INPUT_VALUE a text holds what would be read as another part of the plan;
        PLAN_ENFORCEMENT_FAILED it does not pass its lint; the codes of Jail.write.
        """
        plan = self._plan(session, arguments)
        text = render_plan(plan)
        read, findings = read_plan(text)
        if read is not None and read != plan:
            raise refuse("INVALID_INPUT_VALUE", "A text holds lines that a plan reads as another part", "not_plain")
        if findings:
            raise refuse("INVALID_INPUT_VALUE", f"The plan cannot be written: {findings[0].message}", findings[0].code)
        plan_hash = self._shelf.put(session, text)
        return {"plan_hash": plan_hash, "path": plan_path(plan_hash), "expires_at": plan.expires, "content": text}

    def lint(self, session: Session, arguments: JsonObject) -> JsonObject:
        """lint_plan: of a plan by its hash, or of a text. Raises Refused: MISSING_REQUIRED_FIELD, PLAN_NOT_FOUND."""
        if ("plan_hash" in arguments) == ("content" in arguments):
            raise refuse("MISSING_REQUIRED_FIELD", "Give plan_hash or content, one of them", "plan_hash_or_content")
        if "content" in arguments:
            return _shown(lint(arguments["content"]))
        text = self._shelf.read(session, arguments["plan_hash"])
        return _shown(lint(text, expected_hash=arguments["plan_hash"]))

    def approve(self, session: Session, arguments: JsonObject) -> JsonObject:
        """approve_plan. Raises Refused: INSUFFICIENT_PERMISSIONS no grant, or the caller's own plan; the codes of Shelf."""
        if session.principal not in self._grants.approvers:
            raise refuse("INSUFFICIENT_PERMISSIONS", "This caller may not approve plans", "not_an_approver")
        plan = self._shelf.usable(session, arguments["plan_hash"])
        if plan.author == session.principal:
            raise refuse("INSUFFICIENT_PERMISSIONS", "A plan is approved by someone else than its author", "own_plan")
        return asdict(self._shelf.approve(session, arguments["plan_hash"], approver=session.principal))

    def list(self, session: Session, _arguments: JsonObject) -> JsonObject:
        """list_plans."""
        names = self._shelf.names(session)
        return {"count": len(names), "plans": [self._shelf.summary(session, name) for name in names[:MAX_LISTED]]}

    def read(self, session: Session, arguments: JsonObject) -> JsonObject:
        """read_plan. Raises Refused: PLAN_NOT_FOUND, PLAN_ENFORCEMENT_FAILED it cannot be read as text."""
        plan_hash = arguments["plan_hash"]
        return self._shelf.summary(session, plan_hash) | {"content": self._shelf.read(session, plan_hash)}

    def _plan(self, session: Session, arguments: JsonObject) -> Plan:
        now = self._shelf.now()
        return Plan(
            title=arguments["title"],
            role=arguments.get("role", Role.WINDSURF.value),
            author=session.principal,
            workspace=workspace_id(session.root),
            created=render_moment(now),
            expires=render_moment(now + 3600 * int(arguments.get("expires_in_hours", HOURS))),
            scope=_prose(arguments["scope"]),
            phases=tuple(map(_phase, arguments["phases"])),
            paths=tuple(arguments["paths"]),
            gates=tuple(map(tuple, arguments.get("verification_gates", ()))),
            bans=tuple(map(_ban, arguments.get("forbidden_actions", ()))),
            rollback=_prose(arguments["rollback"]),
        )


def _prose(text: str) -> str:
    """Blank lines and ends of lines mean nothing in a plan, so they are not kept."""
    return "\n".join(line.rstrip() for line in text.splitlines() if line.strip())


def _phase(given: JsonObject) -> Phase:
    return Phase(
        title=given["title"],
        id=given["phase_id"],
        objective=given["objective"],
        allowed=tuple(map(Operation, given["allowed_operations"])),
        forbidden=tuple(map(Operation, given.get("forbidden_operations", ()))),
        artifacts=tuple(given.get("required_intent_artifacts", ())),
        commands=tuple(map(tuple, given.get("verification_commands", ()))),
        outcomes=given["expected_outcomes"],
        stops=given["failure_stop_conditions"],
    )


def _ban(given: JsonObject) -> Ban:
    return Ban(operation=Operation(given["operation"]), pattern=given.get("pattern", "**"))


def _shown(linted: Linted) -> JsonObject:
    return {"passed": linted.passed, "plan_hash": linted.hash, "findings": [asdict(each) for each in linted.findings]}

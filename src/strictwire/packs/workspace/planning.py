"""The tools create_plan, lint_plan, approve_plan, list_plans and read_plan."""

from __future__ import annotations

from dataclasses import asdict
from typing import Final

from strictwire.canon.json import JsonObject
from strictwire.packs.workspace.grants import Grants
from strictwire.packs.workspace.plans.lint import Linted, lint
from strictwire.packs.workspace.plans.model import Ban, Operation, Phase, Plan
from strictwire.packs.workspace.plans.plan_files import PlanFiles, plan_path
from strictwire.packs.workspace.plans.plan_markdown import read_plan, render_plan
from strictwire.packs.workspace.plans.scope import workspace_id
from strictwire.packs.workspace.refusal import refuse
from strictwire.packs.workspace.roles import Role
from strictwire.packs.workspace.session_store import Session
from strictwire.packs.workspace.timestamps import render_timestamp

HOURS: Final = 7 * 24
"""Lifetime of a plan if its author gives none: one week."""

MAX_LISTED: Final = 1000
"""Most plans in one answer."""


class Planning:
    """The tools about plans."""

    def __init__(self, plan_files: PlanFiles, grants: Grants) -> None:
        self._plan_files = plan_files
        self._grants = grants

    def create(self, session: Session, arguments: JsonObject) -> JsonObject:
        """The tool create_plan. Author, workspace and times are set here, never by the client.

        Raises Refused: INVALID_INPUT_VALUE if a text contains lines that would be parsed as another part of the plan;
        PLAN_ENFORCEMENT_FAILED if it has lint findings; the codes of Jail.write.
        """
        plan = self._plan(session, arguments)
        text = render_plan(plan)
        read, findings = read_plan(text)
        if read is not None and read != plan:
            raise refuse(
                "INVALID_INPUT_VALUE", "A text has lines that would be parsed as another part of the plan", "not_plain"
            )
        if findings:
            raise refuse("INVALID_INPUT_VALUE", f"The plan is invalid: {findings[0].message}", findings[0].code)
        plan_hash = self._plan_files.save(session, text, author=session.principal)
        return {"plan_hash": plan_hash, "path": plan_path(plan_hash), "expires_at": plan.expires, "content": text}

    def lint(self, session: Session, arguments: JsonObject) -> JsonObject:
        """The tool lint_plan, for a plan hash or a text. Raises Refused: MISSING_REQUIRED_FIELD, PLAN_NOT_FOUND."""
        if ("plan_hash" in arguments) == ("content" in arguments):
            raise refuse("MISSING_REQUIRED_FIELD", "Give either plan_hash or content", "plan_hash_or_content")
        if "content" in arguments:
            return _lint_json(lint(arguments["content"]))
        text = self._plan_files.read(session, arguments["plan_hash"])
        return _lint_json(lint(text, expected_hash=arguments["plan_hash"]))

    def approve(self, session: Session, arguments: JsonObject) -> JsonObject:
        """The tool approve_plan. Raises Refused: INSUFFICIENT_PERMISSIONS if the caller is not an approver or is the author;
        the codes of PlanFiles."""
        if session.principal not in self._grants.approvers:
            raise refuse("INSUFFICIENT_PERMISSIONS", "This caller may not approve plans", "not_an_approver")
        return asdict(self._plan_files.approve(session, arguments["plan_hash"], approver=session.principal))

    def list(self, session: Session, _arguments: JsonObject) -> JsonObject:
        """The tool list_plans."""
        hashes = self._plan_files.hashes(session)
        return {"count": len(hashes), "plans": [self._plan_files.summary(session, each) for each in hashes[:MAX_LISTED]]}

    def read(self, session: Session, arguments: JsonObject) -> JsonObject:
        """The tool read_plan. Raises Refused: PLAN_NOT_FOUND; PLAN_ENFORCEMENT_FAILED if it is not text."""
        plan_hash = arguments["plan_hash"]
        return self._plan_files.summary(session, plan_hash) | {"content": self._plan_files.read(session, plan_hash)}

    def _plan(self, session: Session, arguments: JsonObject) -> Plan:
        now = self._plan_files.now()
        return Plan(
            title=arguments["title"],
            role=arguments.get("role", Role.WINDSURF.value),
            author=session.principal,
            workspace=workspace_id(session.root),
            created=render_timestamp(now),
            expires=render_timestamp(now + 3600 * int(arguments.get("expires_in_hours", HOURS))),
            scope=_prose(arguments["scope"]),
            phases=tuple(map(_phase, arguments["phases"])),
            paths=tuple(arguments["paths"]),
            gates=tuple(map(tuple, arguments.get("verification_gates", ()))),
            bans=tuple(map(_ban, arguments.get("forbidden_actions", ()))),
            rollback=_prose(arguments["rollback"]),
        )


def _prose(text: str) -> str:
    """Remove blank lines and trailing spaces, which have no meaning in a plan."""
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


def _lint_json(linted: Linted) -> JsonObject:
    return {"passed": linted.passed, "plan_hash": linted.hash, "findings": [asdict(each) for each in linted.findings]}

"""The tools create_plan, lint_plan, approve_plan, list_plans and read_plan."""

from __future__ import annotations

from dataclasses import asdict
from typing import Final

from strictwire.canon.json import JsonObject, JsonValue
from strictwire.fault.failure import Refused
from strictwire.packs.workspace.grants import Grants
from strictwire.packs.workspace.plans.lint import Linted, lint
from strictwire.packs.workspace.plans.model import Ban, Command, Operation, Phase, Plan
from strictwire.packs.workspace.plans.plan_files import HOW_TO_APPROVE, PlanFiles, plan_path
from strictwire.packs.workspace.plans.plan_markdown import PlanFinding, read_plan, render_plan
from strictwire.packs.workspace.plans.scope import workspace_id
from strictwire.packs.workspace.preflight import Preflight
from strictwire.packs.workspace.refusal import refuse
from strictwire.packs.workspace.roles import Role
from strictwire.packs.workspace.session_store import Session
from strictwire.packs.workspace.timestamps import render_timestamp

HOURS: Final = 7 * 24
"""Lifetime of a plan if its author gives none: one week."""

_MAX_FINDINGS: Final = 20
"""Findings that a refusal lists."""

MAX_LISTED: Final = 1000
"""Most plans in one answer."""


class Planning:
    """The tools about plans."""

    def __init__(self, plan_files: PlanFiles, grants: Grants, preflight: Preflight) -> None:
        self._plan_files = plan_files
        self._grants = grants
        self._preflight = preflight

    def create(self, session: Session, arguments: JsonObject) -> JsonObject:
        """The tool create_plan. Author, workspace and times are set here, never by the client.

        Raises Refused: INVALID_INPUT_VALUE if a text contains lines that would be parsed as another part of the plan;
        PLAN_ENFORCEMENT_FAILED if it has lint findings, or if a command cannot start here; the codes of Jail.write.
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
        _check_lint(text)
        problem = next(self._preflight.try_start(commands_of(plan), folder=session), None)
        if problem is not None:
            raise _cannot_run(problem)
        plan_hash = self._plan_files.save(session, text, author=session.principal)
        return {"plan_hash": plan_hash, "path": plan_path(plan_hash), "expires_at": plan.expires, "content": text}

    def lint(self, session: Session, arguments: JsonObject) -> JsonObject:
        """The tool lint_plan, for a plan hash or a text. Raises Refused: MISSING_REQUIRED_FIELD, PLAN_NOT_FOUND."""
        if ("plan_hash" in arguments) == ("content" in arguments):
            raise refuse("MISSING_REQUIRED_FIELD", "Give either plan_hash or content", "plan_hash_or_content")
        if "content" in arguments:
            return self._lint_json(session, lint(arguments["content"]))
        text = self._plan_files.read(session, arguments["plan_hash"])
        return self._lint_json(session, lint(text, expected_hash=arguments["plan_hash"]))

    def _lint_json(self, session: Session, linted: Linted) -> JsonObject:
        """Return the findings. If the text itself has none, the commands are tried."""
        findings = linted.findings
        if linted.plan is not None and not findings:
            problems = self._preflight.try_start(commands_of(linted.plan), folder=session)
            findings = tuple(map(_as_finding, problems))
        return {"passed": not findings, "plan_hash": linted.hash, "findings": [asdict(each) for each in findings]}

    def approve(self, session: Session, arguments: JsonObject) -> JsonObject:
        """The tool approve_plan. Raises Refused: INSUFFICIENT_PERMISSIONS if the caller is not an approver or is the author;
        the codes of PlanFiles."""
        if session.principal not in self._grants.approvers:
            text = f"This caller may not approve plans; {HOW_TO_APPROVE}"
            raise refuse("INSUFFICIENT_PERMISSIONS", text, "not_an_approver")
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
            title=_line(arguments["title"]),
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


def _line(text: str) -> str:
    """Join the lines of a text that a plan holds in one line."""
    return " ".join(text.split())


def _phase(given: JsonObject) -> Phase:
    return Phase(
        title=_line(given["title"]),
        id=given["phase_id"],
        objective=_line(given["objective"]),
        allowed=tuple(map(Operation, given["allowed_operations"])),
        forbidden=tuple(map(Operation, given.get("forbidden_operations", ()))),
        artifacts=tuple(given.get("required_intent_artifacts", ())),
        commands=tuple(map(tuple, given.get("verification_commands", ()))),
        outcomes=_line(given["expected_outcomes"]),
        stops=_line(given["failure_stop_conditions"]),
    )


def _ban(given: JsonObject) -> Ban:
    return Ban(operation=Operation(given["operation"]), pattern=given.get("pattern", "**"))


def _cannot_run(problem: Refused) -> Refused:
    """Return the refusal of a plan whose changes could never be verified."""
    more: JsonObject = dict(problem.failure.details)
    reason = str(more.pop("reason"))
    text = f"A verification command cannot run here, so no change could be made: {problem.failure.text}"
    return refuse("PLAN_ENFORCEMENT_FAILED", text, reason, **more)


def _as_finding(problem: Refused) -> PlanFinding:
    command = problem.failure.details.get("command")
    return PlanFinding(code="PLAN_NOT_ENFORCEABLE", line=0, message=f"{command}: {problem.failure.text}")


def commands_of(plan: Plan) -> tuple[Command, ...]:
    """Return all commands of a plan."""
    return (*(command for phase in plan.phases for command in phase.commands), *plan.gates)


def _check_lint(text: str) -> None:
    """Raises Refused: PLAN_ENFORCEMENT_FAILED with all findings, before any command is tried."""
    findings = lint(text).findings
    if findings:
        listed: list[JsonValue] = [{"code": each.code, "message": each.message} for each in findings[:_MAX_FINDINGS]]
        message = f"The plan cannot be used: {findings[0].message}"
        raise refuse("PLAN_ENFORCEMENT_FAILED", message, findings[0].code, findings=listed)

"""`strictwire lint`: judge the tools of a source, and with a ref, whether their change is complete (G16)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from strictwire.check.engine import Progress, lint, make_finding, no_progress, select_rules
from strictwire.check.finding import Finding
from strictwire.check.lint import RULES
from strictwire.check.lint.changes import Change, change_in_contract, change_tested
from strictwire.check.policy import Policy, PolicyRefused
from strictwire.check.rulesets import RULESETS, Ruleset
from strictwire.check.subject import ToolSet
from strictwire.contract.fingerprint import fingerprint
from strictwire.sources.git import changed_files
from strictwire.sources.place import DEFAULT_SOURCE, read_source
from strictwire.sources.refused import SourceRefused
from strictwire.sources.verbs.outcome import Outcome, of_report, runs


@dataclass(frozen=True, slots=True, kw_only=True)
class LintOptions:
    """What to judge and how."""

    source: str = DEFAULT_SOURCE
    policy: Policy = field(default_factory=Policy)
    style: str = "text"
    """A key of `check.render.FORMATS`."""
    changed_since: str | None = None
    """A git ref: schemas that differ from it must come with a contract row and a test."""


@runs
def run_lint(options: LintOptions, progress: Progress = no_progress) -> Outcome:
    """Judge; see the module."""
    ruleset = choose_ruleset(options.policy)
    plan = select_rules(RULES, ruleset, options.policy)
    tools = read_source(options.source)
    gate = None if options.changed_since is None else _gate(tools, options.changed_since, options.source)
    report = lint(tools, plan, options.policy, version=ruleset.version, progress=progress, change_findings=gate)
    return of_report(report, options.style)


def choose_ruleset(policy: Policy) -> Ruleset:
    """Raises PolicyRefused: no such ruleset."""
    if policy.ruleset not in RULESETS:
        raise PolicyRefused(f"there is no ruleset {policy.ruleset!r}; known: {', '.join(RULESETS)}")
    return RULESETS[policy.ruleset]


def _gate(tools: ToolSet, ref: str, source: str) -> tuple[Finding, ...]:
    """What the change gate finds. It was asked for by name, so it runs in every category."""
    root = Path(source) if Path(source).is_dir() else Path()
    change = _change(tools, ref, source, changed_files(ref, root))
    return tuple(
        make_finding(rule, problem, {problem.origin: (1, 1)})
        for rule in (change_in_contract, change_tested)
        for problem in rule.check(change)
    )


def _change(tools: ToolSet, ref: str, source: str, touched: frozenset[str]) -> Change:
    try:
        before = read_source(f"git:{ref}", beside=source).by_name()
    except SourceRefused as exc:
        if "no schema files" not in exc.reason:
            raise
        before = {}
    changed = [
        (each.contract.name, each.input.file)
        for each in tools.subjects
        if each.contract.name not in before or fingerprint(before[each.contract.name].contract) != fingerprint(each.contract)
    ]
    now = tools.by_name()
    changed += [(name, each.input.file) for name, each in before.items() if name not in now]
    plain = Change(tools=(), touched=touched)
    texts = [Path(name).read_text("utf-8") for name in plain.contract_documents if Path(name).is_file()]
    return replace(plain, tools=tuple(changed), contract_text="\n".join(texts))

"""`strictwire lint`: checks the tools of a source and, with `--changed-since REF`, the completeness of a change (G16)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from strictwire.check.engine import Progress, lint, make_finding, no_progress, select_rules
from strictwire.check.finding import Finding
from strictwire.check.lint import RULES
from strictwire.check.lint.changes import Change, change_in_contract, change_tested
from strictwire.check.policy import LintPolicy, PolicyRefused
from strictwire.check.rulesets import RULESETS, Ruleset
from strictwire.check.subject import ToolSet
from strictwire.contract.fingerprint import fingerprint
from strictwire.sources.git import changed_files
from strictwire.sources.refused import NoSchemaFiles
from strictwire.sources.specifier import DEFAULT_SOURCE, NO_OPTIONS, LiveOptions, read_source
from strictwire.sources.verbs.result import Output, VerbResult, report_result, verb


@dataclass(frozen=True, slots=True, kw_only=True)
class LintOptions:
    """What to check, and how to report."""

    source: str | ToolSet = DEFAULT_SOURCE
    policy: LintPolicy = field(default_factory=LintPolicy)
    output: Output = field(default_factory=Output)
    live: LiveOptions = NO_OPTIONS
    changed_since: str | None = None
    """A git ref: a schema that differs from it needs a change of the contract document and of a test."""


@verb
def run_lint(options: LintOptions, progress: Progress = no_progress) -> VerbResult:
    """Check the tools of a source."""
    ruleset = choose_ruleset(options.policy)
    selection = select_rules(RULES, ruleset, options.policy)
    tools = read_source(options.source, live=options.live)
    ref = options.changed_since
    changes = None if ref is None else _change_findings(tools, ref, options.source)
    report = lint(tools, selection, options.policy, version=ruleset.version, progress=progress, change_findings=changes)
    return report_result(report, options.output)


def choose_ruleset(policy: LintPolicy) -> Ruleset:
    """The ruleset that a policy names. Raises PolicyRefused if it does not exist."""
    if policy.ruleset not in RULESETS:
        raise PolicyRefused(f"unknown ruleset {policy.ruleset!r}; known: {', '.join(RULESETS)}")
    return RULESETS[policy.ruleset]


def _change_findings(tools: ToolSet, ref: str, source: str | ToolSet) -> tuple[Finding, ...]:
    """The findings of the change rules. The user asked for them with a ref, so they run in every category."""
    root = Path(source) if isinstance(source, str) and Path(source).is_dir() else Path()
    change = _change(tools, ref, source, changed_files(ref, root))
    return tuple(
        make_finding(rule, problem, {problem.origin: (1, 1)})
        for rule in (change_in_contract, change_tested)
        for problem in rule.check(change)
    )


def _change(tools: ToolSet, ref: str, source: str | ToolSet, touched: frozenset[str]) -> Change:
    try:
        before = read_source(f"git:{ref}", git_path=source).by_name()
    except NoSchemaFiles:
        before = {}
    changed = [
        (each.contract.name, each.input.file)
        for each in tools.subjects
        if each.contract.name not in before or fingerprint(before[each.contract.name].contract) != fingerprint(each.contract)
    ]
    after = tools.by_name()
    changed += [(name, each.input.file) for name, each in before.items() if name not in after]
    change = Change(tools=tuple(changed), touched=touched)
    texts = [Path(name).read_text("utf-8") for name in change.contract_documents if Path(name).is_file()]
    return replace(change, contract_text="\n".join(texts))

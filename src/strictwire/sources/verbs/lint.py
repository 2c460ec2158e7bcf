"""`strictwire lint`: checks the tools of a source and, with `--changed-since REF`, the completeness of a change (G16)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from strictwire.check.engine import LintRun, Progress, lint_sources, no_progress, select_rules
from strictwire.check.finding import Finding, Report
from strictwire.check.lint import RULES
from strictwire.check.lint.changes import Change, change_in_contract, change_tested
from strictwire.check.policy import LintPolicy, choose_ruleset
from strictwire.check.report import make_finding
from strictwire.check.subject import ToolSet
from strictwire.contract.fingerprint import fingerprint
from strictwire.sources.entries import merge
from strictwire.sources.git import changed_files
from strictwire.sources.refused import NoSchemaFiles
from strictwire.sources.specifier import DEFAULT_SOURCE, NO_OPTIONS, LiveOptions, Sources, read_source, read_sources
from strictwire.sources.verbs.result import Output, VerbResult, could_not_read, report_result, verb


@dataclass(frozen=True, slots=True, kw_only=True)
class LintOptions:
    """What to check, and how to report."""

    source: Sources = DEFAULT_SOURCE
    policy: LintPolicy = field(default_factory=LintPolicy)
    output: Output = field(default_factory=Output)
    live: LiveOptions = NO_OPTIONS
    changed_since: str | None = None
    """A git ref: a schema that differs from it needs a change of the contract document and of a test."""


@verb
def run_lint(options: LintOptions, progress: Progress = no_progress) -> VerbResult:
    """Check the tools of the sources. A source that cannot be read is an error beside the report of the others."""
    sources = [options.source] if isinstance(options.source, str | ToolSet) else options.source
    read = read_sources(sources, options.live)
    result = report_result(lint_report(read.tools, options, progress), options.output)
    return result if not read.refused else could_not_read(result, read.refused)


def lint_report(tools: Sequence[ToolSet], options: LintOptions, progress: Progress = no_progress) -> Report:
    """Check tools that were read. Raises PolicyRefused, and SourceRefused for a git ref that cannot be read."""
    ruleset = choose_ruleset(options.policy)
    selection = select_rules(RULES, ruleset, options.policy)
    ref = options.changed_since
    changes = None if ref is None else _change_findings(merge(tools), ref, options.source)
    run = LintRun(version=ruleset.version, progress=progress, change_findings=changes)
    return lint_sources(tools, selection, options.policy, run)


def _change_findings(tools: ToolSet, ref: str, source: Sources) -> tuple[Finding, ...]:
    """The findings of the change rules. The user asked for them with a ref, so they run in every category."""
    first = source if isinstance(source, str | ToolSet) else source[0]
    root = Path(first) if isinstance(first, str) and Path(first).is_dir() else Path()
    change = _change(tools, ref, source, changed_files(ref, root))
    return tuple(
        make_finding(rule, problem, {problem.origin: (1, 1)})
        for rule in (change_in_contract, change_tested)
        for problem in rule.check(change)
    )


def _change(tools: ToolSet, ref: str, source: Sources, touched: frozenset[str]) -> Change:
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

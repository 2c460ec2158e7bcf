"""`strictwire breaking --against SOURCE`: reports contract changes that affect callers or models."""

from __future__ import annotations

from dataclasses import dataclass, field

from strictwire.check.breaking import RULES
from strictwire.check.breaking.compare import find_breaking_changes
from strictwire.check.engine import Progress, choose_rules, no_progress
from strictwire.check.finding import Report
from strictwire.check.policy import LintPolicy, choose_ruleset
from strictwire.sources.specifier import DEFAULT_SOURCE, NO_OPTIONS, LiveOptions, Sources, read_source
from strictwire.sources.verbs.result import Output, VerbResult, report_result, verb


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakingOptions:
    """The sources to compare, and how to report."""

    against: Sources
    """The source of the old contracts, which callers rely on."""
    source: Sources = DEFAULT_SOURCE
    policy: LintPolicy = field(default_factory=LintPolicy)
    output: Output = field(default_factory=Output)
    live: LiveOptions = NO_OPTIONS


@verb
def run_breaking(options: BreakingOptions, progress: Progress = no_progress) -> VerbResult:
    """Compare `options.source` with `options.against`."""
    return report_result(breaking_report(options, progress), options.output)


def breaking_report(options: BreakingOptions, progress: Progress = no_progress) -> Report:
    """The changes. Raises SourceRefused and PolicyRefused."""
    ruleset = choose_ruleset(options.policy)
    rules = choose_rules(RULES, ruleset.breaking, options.policy, groups={})
    old = read_source(options.against, git_path=options.source, live=options.live)
    new = read_source(options.source, live=options.live)
    return find_breaking_changes(old, new, rules, options.policy, version=ruleset.version, progress=progress)

"""`strictwire breaking --against SOURCE`: reports contract changes that affect callers or models."""

from __future__ import annotations

from dataclasses import dataclass, field

from strictwire.check.breaking import RULES
from strictwire.check.breaking.compare import find_breaking_changes
from strictwire.check.engine import Progress, no_progress
from strictwire.check.policy import LintPolicy, PolicyRefused
from strictwire.sources.specifier import DEFAULT_SOURCE, read_source
from strictwire.sources.verbs.lint import choose_ruleset
from strictwire.sources.verbs.result import VerbResult, report_result, verb


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakingOptions:
    """The sources to compare, and how to report."""

    against: str
    """The source of the old contracts, which callers rely on."""
    source: str = DEFAULT_SOURCE
    policy: LintPolicy = field(default_factory=LintPolicy)
    output_format: str = "text"


@verb
def run_breaking(options: BreakingOptions, progress: Progress = no_progress) -> VerbResult:
    """Compare `options.source` with `options.against`."""
    ruleset = choose_ruleset(options.policy)
    known = {rule.id: rule for rule in RULES}
    named = [*options.policy.without, *(waiver.rule for waiver in options.policy.waivers)]
    unknown = [name for name in named if name not in known]
    if unknown:
        raise PolicyRefused(f"ruleset {ruleset.version} has no breaking rule {unknown[0]!r}; docs/RULES.md lists the rules")
    rules = {name: known[name] for name in ruleset.breaking if name not in options.policy.without}
    old, new = read_source(options.against, git_path=options.source), read_source(options.source)
    report = find_breaking_changes(old, new, rules, options.policy, version=ruleset.version, progress=progress)
    return report_result(report, options.output_format)

"""`strictwire breaking --against SOURCE`: what the change of a contract does to callers and models."""

from __future__ import annotations

from dataclasses import dataclass, field

from strictwire.check.breaking import RULES
from strictwire.check.breaking.judge import breaking
from strictwire.check.engine import Progress, no_progress
from strictwire.check.policy import Policy, PolicyRefused
from strictwire.sources.place import DEFAULT_SOURCE, read_source
from strictwire.sources.verbs.lint import choose_ruleset
from strictwire.sources.verbs.outcome import Outcome, of_report, runs


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakingOptions:
    """What to compare with what."""

    against: str
    """The contracts that callers know."""
    source: str = DEFAULT_SOURCE
    policy: Policy = field(default_factory=Policy)
    style: str = "text"


@runs
def run_breaking(options: BreakingOptions, progress: Progress = no_progress) -> Outcome:
    """Compare; see the module."""
    ruleset = choose_ruleset(options.policy)
    known = {rule.id: rule for rule in RULES}
    named = [*options.policy.without, *(waiver.rule for waiver in options.policy.waivers)]
    unknown = [name for name in named if name not in known]
    if unknown:
        raise PolicyRefused(f"there is no breaking rule {unknown[0]!r} in ruleset {ruleset.version}")
    rules = {name: known[name] for name in ruleset.breaking if name not in options.policy.without}
    old, new = read_source(options.against, beside=options.source), read_source(options.source)
    report = breaking(old, new, rules, options.policy, version=ruleset.version, progress=progress)
    return of_report(report, options.style)

"""Joins findings that have one cause, so that a report names it once, with all places.

A generator that writes one wrong keyword into a hundred schemas is one mistake. Findings with the same rule, message and
evidence are joined; waivers and baselines, which name single places, are applied before.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import replace

from strictwire.check.finding import Finding


def join_causes(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """One finding for each cause, at the position of its first place. The excerpt is that of the first place."""
    causes: dict[Hashable, list[Finding]] = {}
    for finding in findings:
        causes.setdefault(_cause(finding), []).append(finding)
    return tuple(
        first if not others else replace(first, also=tuple(place for each in others for place in each.places))
        for first, *others in causes.values()
    )


def _cause(finding: Finding) -> Hashable:
    evidence = (finding.witness, finding.old, finding.new)
    return (finding.rule, finding.message, finding.advice, finding.impact, finding.severity, evidence)

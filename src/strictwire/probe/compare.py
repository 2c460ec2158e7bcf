"""Compares a report with a saved one: which findings are new, gone, unchanged, or could not be checked again. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from strictwire.canon import json
from strictwire.canon.json import JsonObject
from strictwire.probe.findings import rank_findings
from strictwire.probe.harm import Harm, rank
from strictwire.probe.record import ProbeReport, Status

SAVED_LIMITS: Final = json.Limits(size=64 * 1024 * 1024, depth=64)
"""Largest saved report: a run has at most a few hundred findings, whose quotes are short."""


class NotSaved(ValueError):
    """The file is not a saved report. The message says what it should be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The ids of findings. A finding whose tier is worse than before is new."""

    new: frozenset[str]
    unchanged: frozenset[str]
    gone: tuple[str, ...]
    unchecked: tuple[str, ...]
    """Findings of the saved run whose probe did not run this time: neither gone nor unchanged."""


def parse_saved(raw: bytes) -> Mapping[str, Harm]:
    """The ids and tiers of a saved JSON report. Raises NotSaved."""
    try:
        report = json.parse_object(raw, SAVED_LIMITS)
    except json.NotStrict as exc:
        raise NotSaved(f"it is not JSON ({exc}); expected a file that --save wrote") from exc
    listed = report.get("findings")
    if not isinstance(listed, list) or "lanes" not in report:
        raise NotSaved("it has no findings of a probe; expected a file that --save wrote")
    return dict(_saved_finding(each) for each in listed)


def _saved_finding(entry: object) -> tuple[str, Harm]:
    finding: JsonObject = entry if isinstance(entry, dict) else {}
    id_, harm = finding.get("id"), finding.get("harm")
    if not isinstance(id_, str) or harm not in list(Harm):
        raise NotSaved("a finding has no id or an unknown harm; expected a file that --save wrote")
    return id_, Harm(harm)


def compare(report: ProbeReport, saved: Mapping[str, Harm]) -> Comparison:
    """What changed since the saved run."""
    current = {place.id: finding.harm for finding in rank_findings(report) for place in finding.places}
    new = frozenset(id_ for id_, harm in current.items() if id_ not in saved or rank(harm) < rank(saved[id_]))
    missing = [id_ for id_ in saved if id_ not in current]
    checked = _checked(report)
    return Comparison(
        new=new,
        unchanged=frozenset(current) - new,
        gone=tuple(id_ for id_ in missing if _keys(id_) <= checked),
        unchecked=tuple(id_ for id_ in missing if not _keys(id_) <= checked),
    )


def _checked(report: ProbeReport) -> frozenset[tuple[str, str]]:
    """The probes and variants that ran, or do not apply any more."""
    return frozenset((each.probe, str(each.variant)) for each in report.results if each.status is not Status.NOT_RUN)


def _keys(id_: str) -> frozenset[tuple[str, str]]:
    """The probe and the variants of an id, read from its ends: a tool's name between them may contain any character."""
    front, _, variants = id_.rpartition("@")
    probe = front.partition(":")[0]
    return frozenset((probe, variant) for variant in variants.split("~"))

"""The findings of a report: ranked by harm, one entry for each cause, the server's own apart from its framework's. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from strictwire.probe.harm import Harm, rank
from strictwire.probe.record import Description, Difference, Fatal, ProbeReport, ProbeResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One occurrence of a finding."""

    id: str
    """The stable id, which saved runs are compared by."""
    where: str
    """The variant, or the two that differ."""
    subject: str
    """The tool or the probe whose response shows it; empty if the finding has one place only."""
    got: str
    fatal: Fatal | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What one probe found, with all places."""

    probe: Description
    harm: Harm
    is_shared: bool
    """Whether a bare server on the same framework has it too."""
    places: tuple[Place, ...]

    @property
    def ids(self) -> frozenset[str]:
        """The ids of all places."""
        return frozenset(place.id for place in self.places)


def rank_findings(report: ProbeReport) -> tuple[Finding, ...]:
    """The findings, worst first; within a tier the server's own come before those of its framework.

    A difference between variants is a finding of its own only if no variant has a finding of the same probe: otherwise the
    cause is the same.
    """
    described = {probe.id: probe for probe in report.probes}
    order = {probe.id: index for index, probe in enumerate(report.probes)}
    shared = report.framework.shared if report.framework else frozenset()
    groups: dict[tuple[str, Harm, bool], list[Place]] = {}
    for name, harm, place in _places(report):
        groups.setdefault((name, harm, place.id in shared), []).append(place)
    found = [
        Finding(probe=described[name], harm=harm, is_shared=is_shared, places=tuple(places))
        for (name, harm, is_shared), places in groups.items()
    ]
    return tuple(sorted(found, key=lambda each: (rank(each.harm), each.is_shared, order[each.probe.id])))


def _places(report: ProbeReport) -> Iterator[tuple[str, Harm, Place]]:
    for result in report.findings:
        for place in _places_of(result):
            yield result.probe, result.harm or Harm.STYLE, place
    explained = {result.probe for result in report.findings}
    for difference in report.differences:
        if difference.probe not in explained:
            yield difference.probe, Harm.PARITY, _place_of(difference)


def _places_of(result: ProbeResult) -> Iterator[Place]:
    where = str(result.variant)
    if not result.problems:
        yield Place(id=result.ids[0], where=where, subject="", got=result.got, fatal=result.fatal)
    for id_, problem in zip(result.ids, result.problems, strict=False):
        yield Place(id=id_, where=where, subject=problem.subject, got=problem.got, fatal=result.fatal)


def _place_of(difference: Difference) -> Place:
    got = f"{difference.what} differs: {difference.got_left} | {difference.got_right}"
    return Place(id=difference.id, where=f"{difference.left} and {difference.right}", subject="", got=got)

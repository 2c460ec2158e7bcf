"""Recognises the framework of a server by its behaviour, and which findings it brings along. Pure, apart from package data.

`frameworks.json` has the responses of a bare server on each framework; `python -m benchmarks.frameworks` measures them. A
server that gets nearly the same responses is taken to be built on that framework, and the report shows the evidence. A
server that resembles none, or an unknown version, is "not recognised": its findings all count as its own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Final

import msgspec

from strictwire.probe.record import Framework, ProbeReport, Status

MIN_COMPARED: Final = 20
"""Responses that must be comparable: fewer could agree by chance."""

MIN_AGREEMENT: Final = 0.9
"""Share of equal responses. Measured: frameworks on one SDK agree to 92 to 100 %, Python and TypeScript to 74 to 82 %."""

_DETECTED_BY: Final = ("JSON_", "ENCODING_", "NUMBER_", "KEY_", "ENVELOPE_", "ID_", "NESTING_", "METHOD_", "META_")
"""Probes whose responses the framework gives, not the author of the server."""

_MARKS: Final[Mapping[str, re.Pattern[str]]] = MappingProxyType(
    {
        "TypeScript SDK": re.compile(r"\bMCP error -3\d{4}: "),
        "Python SDK": re.compile(r"validation errors? for \w+Arguments\b"),
        "FastMCP": re.compile(r"validation errors? for call\["),
    }
)
"""Texts that only one family writes. They decide between frameworks whose responses are equal otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    name: str
    version: str
    outcomes: Mapping[tuple[str, str], str]
    findings: frozenset[str]

    @property
    def family(self) -> str:
        """The name without version and level: a finding that one version of it has comes from the framework too."""
        return next(family for family in _MARKS if self.name.startswith(family))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Match:
    known: _Known
    same: int
    compared: int
    mark: str
    """The text that only this family writes, as the server sent it."""
    same_of_all: int
    """Equal responses to all probes. They decide between versions and levels of one family."""

    @property
    def score(self) -> tuple[float, bool]:
        return self.same / self.compared, bool(self.mark)


def detect_framework(report: ProbeReport, infos: Sequence[object], texts: Sequence[str]) -> Framework | None:
    """The framework, with the evidence and the findings it explains; None if the behaviour fits none."""
    outcomes = {
        (result.probe, str(result.variant)): result.outcome
        for result in report.results
        if result.status in (Status.PASS, Status.FINDING)
    }
    matches = [match for each in known_frameworks() if (match := _maybe_match(each, outcomes, texts))]
    if not matches:
        return None
    best = _best_of_each_family(matches)
    families = {each.known.family for each in best}
    bare = [each.known for each in matches if each.known.family in families]
    return Framework(
        name=" or ".join(each.known.name for each in best),
        evidence=tuple(_evidence(best[0], infos)),
        shared=frozenset(id_ for each in bare for id_ in each.findings if _agrees(each, outcomes, id_)),
    )


def _best_of_each_family(matches: Sequence[_Match]) -> list[_Match]:
    """The best matches: several if families on the same SDK fit equally well, because their parser is the same."""
    top = max(match.score for match in matches)
    best: dict[str, _Match] = {}
    for match in (each for each in matches if each.score == top):
        known = best.setdefault(match.known.family, match)
        if match.same_of_all > known.same_of_all:
            best[match.known.family] = match
    return list(best.values())


def _maybe_match(known: _Known, outcomes: Mapping[tuple[str, str], str], texts: Sequence[str]) -> _Match | None:
    """How well a framework fits, or None if it does not."""
    keys = [key for key in known.outcomes if key in outcomes and key[0].startswith(_DETECTED_BY)]
    same = sum(known.outcomes[key] == outcomes[key] for key in keys)
    if len(keys) < MIN_COMPARED or same < MIN_AGREEMENT * len(keys):
        return None
    hits = [hit.group() for text in texts if (hit := _MARKS[known.family].search(text))]
    same_of_all = sum(known.outcomes.get(key) == outcome for key, outcome in outcomes.items())
    return _Match(known=known, same=same, compared=len(keys), mark=hits[0] if hits else "", same_of_all=same_of_all)


def _agrees(known: _Known, outcomes: Mapping[tuple[str, str], str], id_: str) -> bool:
    """Whether the server gave the same response as the bare one, on all variants of a finding."""
    front, _, variants = id_.rpartition("@")
    keys = [(front.partition(":")[0], variant) for variant in variants.split("~")]
    return all(known.outcomes.get(key) == outcomes.get(key) for key in keys)


def _evidence(match: _Match, infos: Sequence[object]) -> list[str]:
    known = match.known
    evidence = [f"{match.same} of {match.compared} responses equal those of a bare server on {known.name} ({known.version})"]
    if match.mark:
        evidence.append(f"an error text has {match.mark.strip()!r}")
    versions = {str(info.get("version")) for info in infos if isinstance(info, dict)}
    if known.version in versions:
        evidence.append(f"serverInfo has the version {known.version} of the framework")
    return evidence


@cache
def known_frameworks() -> tuple[_Known, ...]:
    """The measured frameworks."""
    raw = (files("strictwire.probe") / "frameworks.json").read_bytes()
    return tuple(_known(each) for each in msgspec.json.decode(raw))


def _known(entry: dict[str, Any]) -> _Known:
    outcomes = {
        (probe, variant): outcome for probe, variants in entry["outcomes"].items() for variant, outcome in variants.items()
    }
    return _Known(name=entry["name"], version=entry["version"], outcomes=outcomes, findings=frozenset(entry["findings"]))

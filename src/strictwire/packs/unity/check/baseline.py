"""The baseline: findings that were there before the check was introduced. They are shown as known and fail nothing.

A finding is identified by its rule, its file and its place, not by its line, so that edits elsewhere in the file do not make
it new. Equal findings are counted: one more than the baseline has is a new one.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from typing import Final

from strictwire.canon.json import JsonObject, NotStrict, indent, parse_object, render
from strictwire.check.finding import Finding
from strictwire.check.policy import PolicyRefused

_VERSION: Final = 1
MAX_BASELINE: Final = 64 * 1024 * 1024
"""Bytes of a baseline file that are read."""


def fingerprint(finding: Finding) -> str:
    """The identity of a finding."""
    text = "\n".join((finding.rule, finding.file, finding.pointer))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:20]


def render_baseline(findings: Iterable[Finding]) -> bytes:
    """The file for these findings, sorted, so that it changes little from one version to the next."""
    counts = Counter((each.file, each.rule, fingerprint(each)) for each in findings)
    rows: list[JsonObject] = [
        {"file": file, "rule": rule, "fingerprint": mark, **({"count": count} if count > 1 else {})}
        for (file, rule, mark), count in sorted(counts.items())
    ]
    return indent(render({"version": _VERSION, "findings": rows})) + b"\n"


def parse_baseline(raw: bytes) -> Counter[str]:
    """Fingerprints with their counts. Raises PolicyRefused: not a baseline file."""
    try:
        value = parse_object(raw)
    except NotStrict:
        raise PolicyRefused("the baseline is not valid JSON; write it again with --write-baseline") from None
    rows = value.get("findings")
    if value.get("version") != _VERSION or not isinstance(rows, list):
        raise PolicyRefused(f"the baseline is not of version {_VERSION}; write it again with --write-baseline")
    found: Counter[str] = Counter()
    for row in rows:
        if not isinstance(row, dict) or not isinstance(row.get("fingerprint"), str):
            raise PolicyRefused("an entry of the baseline has no fingerprint; write it again with --write-baseline")
        count = row.get("count", 1)
        found[str(row["fingerprint"])] += count if isinstance(count, int) and count > 0 else 1
    return found


def split_known(findings: Iterable[Finding], baseline: Counter[str]) -> tuple[list[Finding], list[Finding], int]:
    """New findings, known ones, and how many entries of the baseline no longer occur."""
    left = Counter(baseline)
    new: list[Finding] = []
    known: list[Finding] = []
    for finding in findings:
        mark = fingerprint(finding)
        if left[mark] > 0:
            left[mark] -= 1
            known.append(finding)
        else:
            new.append(finding)
    return new, known, sum(left.values())

"""`strictwire unity check`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from strictwire.check.finding import Finding, Level
from strictwire.check.policy import PolicyRefused
from strictwire.check.render import FORMATS
from strictwire.packs.unity.check.baseline import MAX_BASELINE, parse_baseline, render_baseline
from strictwire.packs.unity.check.policy import CheckPolicy
from strictwire.packs.unity.check.run import check_project, make_unity_report
from strictwire.packs.unity.verbs.opening import open_projects
from strictwire.packs.unity.verbs.outcome import FINDINGS, FINE, VerbRefused, VerbResult, runs


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckOptions:
    """What to check and how."""

    path: Path
    policy: CheckPolicy
    style: str
    """One of `strictwire.check.render.FORMATS`."""
    baseline: Path | None = None
    """Known findings; the policy may name one as well."""
    write_baseline: bool = False
    fail_on: Level | None = None
    """In place of that of the policy."""
    index_folder: Path | None = None


@runs
def run_check(options: CheckOptions, progress: Callable[[int, int], None]) -> VerbResult:
    """Check every project at a path and report."""
    policy = replace(options.policy, fail_on=options.fail_on or options.policy.fail_on)
    baseline = options.baseline or (Path(policy.baseline) if policy.baseline else None)
    if options.write_baseline and baseline is None:
        raise PolicyRefused("--write-baseline needs --baseline FILE, or `baseline` in [unity.check]")
    findings: list[Finding] = []
    notes: list[str] = []
    assets = 0
    with open_projects(options.path, folder=options.index_folder) as projects:
        for each in projects:
            graph = each.index.graph(progress=progress)
            checked = check_project(graph, policy, prefix=each.prefix, scope=each.scope)
            findings += checked.findings
            notes += checked.notes
            assets += len(graph.project.assets)
    known = Counter[str]() if options.write_baseline else _read_baseline(baseline)
    report = make_unity_report(findings, policy, subject=str(options.path), assets=assets, notes=notes, baseline=known)
    if options.write_baseline and baseline is not None:
        return _write_baseline(baseline, report.findings)
    return VerbResult(exit_code=FINDINGS if report.failing else FINE, text=FORMATS[options.style](report))


def _read_baseline(file: Path | None) -> Counter[str]:
    """A baseline that is named and missing is an error: without it old findings would look new."""
    if file is None:
        return Counter()
    try:
        with file.open("rb") as opened:
            raw = opened.read(MAX_BASELINE + 1)
    except OSError:
        raise PolicyRefused(f"the baseline {file} cannot be read; make it with --write-baseline") from None
    if len(raw) > MAX_BASELINE:
        raise PolicyRefused(f"the baseline {file} is larger than {MAX_BASELINE:,} bytes")
    return parse_baseline(raw)


def _write_baseline(file: Path, findings: tuple[Finding, ...]) -> VerbResult:
    try:
        file.write_bytes(render_baseline(findings))
    except OSError as exc:
        raise VerbRefused(f"the baseline {file} cannot be written ({exc.strerror})") from None
    return VerbResult(text=f"{len(findings)} findings written to {file}\n")

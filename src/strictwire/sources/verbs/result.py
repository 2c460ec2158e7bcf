"""The result of a command, and the conversion of expected errors into exit codes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import wraps
from importlib.metadata import version
from pathlib import Path
from typing import Final, ParamSpec

from strictwire.canon.json import NotJson
from strictwire.check.baseline import BaselineRefused, parse_baseline, render_baseline, without_known
from strictwire.check.causes import join_causes
from strictwire.check.finding import Report
from strictwire.check.policy import PolicyRefused
from strictwire.check.render import FORMATS
from strictwire.contract.bundle import BundleRefused
from strictwire.sources.refused import SourceRefused
from strictwire.sources.whole_file import read_whole, write_whole

CLEAN: Final = 0
COULD_NOT_RUN: Final = 1
USAGE: Final = 2
FINDINGS: Final = 100

MAX_BASELINE: Final = 64 * 1024 * 1024
"""Largest baseline file that is read, in bytes."""

Parameters = ParamSpec("Parameters")


@dataclass(frozen=True, slots=True, kw_only=True)
class VerbResult:
    """The result of a command."""

    exit_code: int
    text: str = ""
    """For standard output."""
    error: str = ""
    """For standard error: why the command could not run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """How to report."""

    output_format: str = "text"
    """A key of `check.render.FORMATS`."""
    baseline: str | None = None
    """A file of known findings, which are listed apart and do not fail."""
    write_baseline: str | None = None
    """A file to write all findings to; the command then succeeds."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Further formats, each with the file to write it to."""


def report_result(report: Report, output: Output) -> VerbResult:
    """The result for a report: exit code 100 if it has failing findings. Raises SourceRefused for an unreadable baseline."""
    if output.write_baseline is not None:
        write_whole(Path(output.write_baseline), render_baseline(report.findings))
        return VerbResult(exit_code=CLEAN, text=f"wrote {len(report.findings):,} findings to {output.write_baseline}\n")
    return render_reports([finish_report(report, output)], output)


def finish_report(report: Report, output: Output) -> Report:
    """The report as every format shows it: without the findings of the baseline, and with one finding for each cause."""
    if output.baseline is not None:
        report = without_known(report, _read_baseline(output.baseline))
    return replace(report, findings=join_causes(report.findings), tool_version=version("strictwire"))


def render_reports(reports: Sequence[Report], output: Output) -> VerbResult:
    """Write the files of an output. The text is the report in its format. Raises SourceRefused."""
    for name, path in output.files.items():
        write_whole(Path(path), FORMATS[name](*reports).encode())
    has_findings = any(each.failing for each in reports)
    return VerbResult(exit_code=FINDINGS if has_findings else CLEAN, text=FORMATS[output.output_format](*reports))


def could_not_read(result: VerbResult, refused: Sequence[SourceRefused]) -> VerbResult:
    """The result of a check that some sources could not be part of: their reasons, and exit code 1 besides the report."""
    return replace(result, exit_code=COULD_NOT_RUN, error="\n".join(map(str, refused)))


def _read_baseline(path: str) -> Mapping[str, int]:
    try:
        return parse_baseline(read_whole(Path(path), MAX_BASELINE))
    except BaselineRefused as exc:
        raise SourceRefused(path, str(exc)) from exc


def verb(function: Callable[Parameters, VerbResult]) -> Callable[Parameters, VerbResult]:
    """Decorator: turn expected errors into results with exit code 1 or 2. A check that did not run never passes."""

    @wraps(function)
    def run(*args: Parameters.args, **kwargs: Parameters.kwargs) -> VerbResult:
        try:
            return function(*args, **kwargs)
        except (SourceRefused, BundleRefused) as exc:
            return VerbResult(exit_code=COULD_NOT_RUN, error=str(exc))
        except NotJson:
            return VerbResult(exit_code=COULD_NOT_RUN, error="a contract contains a value that is not JSON")
        except PolicyRefused as exc:
            return VerbResult(exit_code=USAGE, error=str(exc))

    return run

"""`strictwire ci`: lint, breaking and pin --check on the same tools, with one report and one exit code."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from strictwire.check.engine import Progress, no_progress
from strictwire.check.finding import Report
from strictwire.check.policy import LintPolicy
from strictwire.check.render.text import tally
from strictwire.check.subject import ToolSet
from strictwire.sources.entries import merge
from strictwire.sources.lock import LOCK_NAME
from strictwire.sources.refused import NoSchemaFiles, SourceRefused
from strictwire.sources.specifier import DEFAULT_SOURCE, NO_OPTIONS, LiveOptions, Sources, local_paths, read_sources
from strictwire.sources.verbs.breaking import BreakingOptions, breaking_report
from strictwire.sources.verbs.lint import LintOptions, lint_report
from strictwire.sources.verbs.pin import PinOptions, pin_report
from strictwire.sources.verbs.result import COULD_NOT_RUN, Output, VerbResult, finish_report, render_reports, verb


@dataclass(frozen=True, slots=True, kw_only=True)
class CiOptions:
    """What to check, and how to report."""

    source: Sources = DEFAULT_SOURCE
    lint: LintPolicy = field(default_factory=LintPolicy)
    breaking: LintPolicy = field(default_factory=LintPolicy)
    base: str = ""
    """A git ref, or the source of the old contracts; empty: changes are not checked."""
    lock: str = LOCK_NAME
    """Checked if the file exists."""
    output: Output = field(default_factory=Output)
    live: LiveOptions = NO_OPTIONS


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One check: its report, or why there is none."""

    name: str
    report: Report | None = None
    skipped: str = ""
    error: str = ""

    @property
    def summary(self) -> str:
        """The outcome in one line."""
        if self.report is None:
            return f"could not run: {self.error}" if self.error else f"skipped: {self.skipped}"
        first, *others = tally(self.report)
        return ", ".join([first if self.report.failing else "passed", *others])


@verb
def run_ci(options: CiOptions, progress: Progress = no_progress) -> VerbResult:
    """Run every check that applies. A check that cannot run does not stop the others; the exit code is then 1."""
    sources = [options.source] if isinstance(options.source, str | ToolSet) else options.source
    read = read_sources(sources, options.live)
    steps = [Step(name="source", error=str(each)) for each in read.refused]
    steps += [
        _step("lint", options, lambda: lint_report(read.tools, LintOptions(policy=options.lint), progress)),
        _breaking(read.tools, options),
        _pin(read.tools, options),
    ]
    reports = [each.report for each in steps if each.report is not None]
    result = render_reports(reports, options.output)
    errors = [f"{each.name}: {each.error}" for each in steps if each.error]
    exit_code = COULD_NOT_RUN if errors else result.exit_code
    text = result.text + (render_steps(steps) if options.output.output_format in _FOR_PEOPLE else "")
    return VerbResult(exit_code=exit_code, text=text, error="\n".join(errors))


_FOR_PEOPLE: Final = frozenset({"text", "colour", "github", "statistics"})
"""Formats that a line for each check may follow."""


def render_steps(steps: list[Step]) -> str:
    """One line for each check."""
    width = max(len(each.name) for each in steps)
    return "".join(f"{each.name:<{width}}  {each.summary}\n" for each in steps)


def _breaking(tools: tuple[ToolSet, ...], options: CiOptions) -> Step:
    if not options.base:
        return Step(name="breaking", skipped="no base to compare with; name one with --base")

    def compare() -> Report:
        settings = BreakingOptions(
            source=merge(tools), against=_against(options), policy=options.breaking, live=options.live
        )
        return breaking_report(settings)

    return _step("breaking", options, compare)


def _against(options: CiOptions) -> list[str]:
    """The old version: the same paths at a git ref, or the lock file at it if the tools are not files."""
    if options.base.startswith("git:") or Path(options.base).exists():
        return [options.base]
    return [f"git:{options.base}:{path}" for path in local_paths(options.source) or [options.lock]]


def _pin(tools: tuple[ToolSet, ...], options: CiOptions) -> Step:
    if not Path(options.lock).is_file():
        return Step(name="pin", skipped=f"there is no {options.lock}; write it with `strictwire pin`")
    return _step("pin", options, lambda: pin_report(PinOptions(source=merge(tools), lock=options.lock)))


def _step(name: str, options: CiOptions, check: Callable[[], Report]) -> Step:
    try:
        return Step(name=name, report=finish_report(check(), options.output))
    except NoSchemaFiles as exc:
        return Step(name=name, skipped=f"{exc}; every tool is new")
    except SourceRefused as exc:
        return Step(name=name, error=str(exc))

"""`strictwire pin` writes the lock file; `strictwire pin --check` reports tools that differ from it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from strictwire.check.finding import Report
from strictwire.check.pin import check_pins
from strictwire.check.render.text import count
from strictwire.sources.lock import LOCK_NAME, read_lock, read_pins, write_lock
from strictwire.sources.refused import SourceRefused
from strictwire.sources.specifier import DEFAULT_SOURCE, NO_OPTIONS, LiveOptions, Sources, read_source
from strictwire.sources.verbs.result import CLEAN, Output, VerbResult, report_result, verb


@dataclass(frozen=True, slots=True, kw_only=True)
class PinOptions:
    """The source to pin, the lock file, and how to report."""

    source: Sources = DEFAULT_SOURCE
    lock: str = LOCK_NAME
    output: Output = field(default_factory=Output)
    live: LiveOptions = NO_OPTIONS


@verb
def run_pin(options: PinOptions) -> VerbResult:
    """Write the lock file. Refuses a source with read problems: a partial lock file would look complete."""
    tools = read_source(options.source, live=options.live)
    if tools.read_problems:
        problem = tools.read_problems[0]
        raise SourceRefused(problem.origin.file or tools.label, f"{problem.message}; nothing was pinned")
    write_lock(Path(options.lock), tools.subjects)
    return VerbResult(exit_code=CLEAN, text=f"pinned {count(len(tools.subjects), 'tool')} in {options.lock}\n")


@verb
def run_pin_check(options: PinOptions) -> VerbResult:
    """Compare a source with the lock file."""
    return report_result(pin_report(options), options.output)


def pin_report(options: PinOptions) -> Report:
    """The tools that differ from their pins. Raises SourceRefused."""
    if not Path(options.lock).exists():
        raise SourceRefused(options.lock, "there is no lock file; write it with `strictwire pin`")
    pinned = read_pins(read_lock(Path(options.lock)))
    return check_pins(pinned.contracts, read_source(options.source, live=options.live), against=options.lock)

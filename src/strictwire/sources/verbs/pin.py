"""`strictwire pin` writes the lock file; `strictwire pin --check` reports tools that differ from it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from strictwire.check.pin import check_pins
from strictwire.check.render.text import count
from strictwire.check.subject import ToolSet
from strictwire.sources.lock import LOCK_NAME, read_lock, read_pins, write_lock
from strictwire.sources.refused import SourceRefused
from strictwire.sources.specifier import DEFAULT_SOURCE, NO_OPTIONS, LiveOptions, read_source
from strictwire.sources.verbs.result import CLEAN, Output, VerbResult, report_result, verb


@dataclass(frozen=True, slots=True, kw_only=True)
class PinOptions:
    """The source to pin, the lock file, and how to report."""

    source: str | ToolSet = DEFAULT_SOURCE
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
    pinned = read_pins(read_lock(Path(options.lock)))
    report = check_pins(pinned.pins, read_source(options.source, live=options.live), against=options.lock)
    return report_result(report, options.output)

"""`strictwire pin` writes the lock file; `strictwire pin --check` says what is no longer as it was pinned."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from strictwire.check.pin import check_pins
from strictwire.check.render.text import count
from strictwire.sources.lock import LOCK_NAME, pins_of, read_lock, write_lock
from strictwire.sources.place import DEFAULT_SOURCE, read_source
from strictwire.sources.refused import SourceRefused
from strictwire.sources.verbs.outcome import CLEAN, Outcome, of_report, runs


@dataclass(frozen=True, slots=True, kw_only=True)
class PinOptions:
    """What to pin, and where."""

    source: str = DEFAULT_SOURCE
    lock: str = LOCK_NAME
    style: str = "text"


@runs
def run_pin(options: PinOptions) -> Outcome:
    """Write the lock file. A source with read_problems is not pinned: half a lock would pass for a whole one."""
    tools = read_source(options.source)
    if tools.read_problems:
        problem = tools.read_problems[0]
        raise SourceRefused(problem.origin.file or tools.label, f"{problem.message}; nothing was pinned")
    write_lock(Path(options.lock), tools.subjects)
    return Outcome(exit_code=CLEAN, text=f"pinned {count(len(tools.subjects), 'tool')} in {options.lock}\n")


@runs
def run_pin_check(options: PinOptions) -> Outcome:
    """Compare a source with the lock file."""
    pinned = pins_of(read_lock(Path(options.lock)))
    report = check_pins(pinned.pins, read_source(options.source), against=options.lock)
    return of_report(report, options.style)

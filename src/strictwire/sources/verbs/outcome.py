"""What a verb gives back, and the failures that every verb turns into exit code 1."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Final, ParamSpec

from strictwire.canon.json import NotJson
from strictwire.check.finding import Report
from strictwire.check.policy import PolicyRefused
from strictwire.check.render import FORMATS
from strictwire.contract.bundle import BundleRefused
from strictwire.sources.refused import SourceRefused

CLEAN: Final = 0
COULD_NOT_RUN: Final = 1
USAGE: Final = 2
FINDINGS: Final = 100

Given = ParamSpec("Given")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The end of a verb."""

    exit_code: int
    text: str = ""
    """For standard output."""
    error: str = ""
    """For standard error: why it could not run."""


def of_report(report: Report, style: str) -> Outcome:
    """A report as an outcome: findings that fail give 100."""
    return Outcome(exit_code=FINDINGS if report.failing else CLEAN, text=FORMATS[style](report))


def runs(verb: Callable[Given, Outcome]) -> Callable[Given, Outcome]:
    """A verb whose expected failures are outcomes: the check did not run, which is never a pass."""

    @wraps(verb)
    def run(*args: Given.args, **kwargs: Given.kwargs) -> Outcome:
        try:
            return verb(*args, **kwargs)
        except (SourceRefused, BundleRefused) as exc:
            return Outcome(exit_code=COULD_NOT_RUN, error=str(exc))
        except NotJson:
            return Outcome(exit_code=COULD_NOT_RUN, error="a contract holds a value that JSON cannot carry")
        except PolicyRefused as exc:
            return Outcome(exit_code=USAGE, error=f"strictwire.toml: {exc}")

    return run

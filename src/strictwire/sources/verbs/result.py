"""The result of a command, and the conversion of expected errors into exit codes."""

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

Parameters = ParamSpec("Parameters")


@dataclass(frozen=True, slots=True, kw_only=True)
class VerbResult:
    """The result of a command."""

    exit_code: int
    text: str = ""
    """For standard output."""
    error: str = ""
    """For standard error: why the command could not run."""


def report_result(report: Report, output_format: str) -> VerbResult:
    """The result for a report: exit code 100 if it has failing findings."""
    return VerbResult(exit_code=FINDINGS if report.failing else CLEAN, text=FORMATS[output_format](report))


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
            return VerbResult(exit_code=USAGE, error=f"strictwire.toml: {exc}")

    return run

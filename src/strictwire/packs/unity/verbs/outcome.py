"""What a verb gives back. Exit codes: 0 fine, 100 findings, 1 could not run, 2 usage."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Final, ParamSpec

from strictwire.check.policy import PolicyRefused
from strictwire.fault.escape import for_terminal
from strictwire.packs.unity.diff.git import GitRefused
from strictwire.packs.unity.project.find import NotAProject
from strictwire.packs.unity.reading import Unreadable

FINE: Final = 0
COULD_NOT_RUN: Final = 1
USAGE: Final = 2
FINDINGS: Final = 100

Given = ParamSpec("Given")


class VerbRefused(Exception):
    """The verb cannot do what was asked; the text says why and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerbResult:
    """The end of a verb."""

    exit_code: int = FINE
    text: str = ""
    """For standard output."""
    error: str = ""
    """For standard error."""


def runs(verb: Callable[Given, VerbResult]) -> Callable[Given, VerbResult]:
    """A verb whose expected failures are results: what did not run is never a pass."""

    @wraps(verb)
    def run(*args: Given.args, **kwargs: Given.kwargs) -> VerbResult:
        try:
            return verb(*args, **kwargs)
        except PolicyRefused as exc:
            return VerbResult(exit_code=USAGE, error=for_terminal(str(exc)))
        except (NotAProject, VerbRefused, GitRefused) as exc:
            return VerbResult(exit_code=COULD_NOT_RUN, error=for_terminal(str(exc)))
        except Unreadable as exc:
            return VerbResult(exit_code=COULD_NOT_RUN, error=for_terminal(f"the file {exc.reason}"))

    return run

"""The page `docs/FAILURES.md`, made from the catalogue, so that it cannot say anything else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from strictwire.fault.catalogue import CATALOGUE, RENDERINGS
from strictwire.fault.dialects.index import DIALECTS, HTTP
from strictwire.fault.invariants import INVARIANTS
from strictwire.fault.losses import render_losses
from strictwire.fault.spellings import spell

_OPENING: Final = """# Failures

Made by `./scripts/failures-page` from the catalogue; a test fails when it is stale.

A failure is one value: code, stage, blame, retryable, text, details, invariant id, cause.
A dialect is how a contract shows it. Act on the code, never on the text.
`strictwire explain CODE` prints one row of this page for any spelling, and `strictwire.read_failure(payload)` turns any
of these bodies back into the value.
"""

_LOSSES: Final = """
*whole*: read back as it was; *partly*: some values look alike once rendered; *lost*: read back as the catalogue has it.
Stage, blame and, where it is lost, retryable then follow from the code. `cause` travels in `system/1.0` alone.
"""

_ARGUMENTS: Final = """
Arguments that do not fit are one code, INVALID_PARAMS, with `details.violations`.
`system/1.0` names the gravest violation: arguments that are no object, then what is missing, then wrong types, then
malformed texts, then the rest.
`resolve/v0` goes by the argument: budget, then query and unknown arguments, then cache.
`editor/0.1` lists missingParameters, typeMismatches and constraintViolations.
A denied role is UNAUTHORIZED_ACTION in `system/1.0`; any other denial is INSUFFICIENT_PERMISSIONS.
"""


def render_reference() -> str:
    """The whole page."""
    return "".join(
        (
            _OPENING,
            "\n## Codes\n\n",
            _table(("code", "meaning", "what to do", "fault of", "stage", "again"), _code_rows()),
            "\n## How each dialect says them\n",
            _ARGUMENTS,
            "\n",
            _table(("code", *(name for name in DIALECTS if name != HTTP), "http", "exit"), _spelling_rows()),
            "\n## What a dialect cannot carry\n",
            _LOSSES,
            "\n",
            render_losses(),
            "\n## Invariants\n\n",
            _table(("id", "what stays true"), ((f"`{name}`", truth) for name, truth in INVARIANTS.items())),
        )
    )


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(cells) + " |\n" for cells in lines)


def _code_rows() -> Iterable[Sequence[str]]:
    for entry in CATALOGUE.values():
        again = "yes" if entry.retryable else "no"
        yield f"`{entry.code}`", entry.meaning, entry.action, entry.blame, entry.stage, again


def _spelling_rows() -> Iterable[Sequence[str]]:
    for code, row in RENDERINGS.items():
        said = [str(spell(code, dialect)) for dialect in DIALECTS if dialect != HTTP]
        if row.rpc != row.rpc_legacy:
            said[0] += f", before 2026-07-28 {row.rpc_legacy}"
        yield f"`{code}`", *said, str(row.http), str(row.exit)

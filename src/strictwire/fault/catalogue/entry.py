"""The record of one failure code."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Stage(StrEnum):
    """The stage at which a call failed, in order."""

    DECODE = "decode"
    ENVELOPE = "envelope"
    ROUTE = "route"
    ADMIT = "admit"
    AUTHORISE = "authorise"
    ACCEPT = "accept"
    RUN = "run"
    VERIFY = "verify"
    RECORD = "record"
    START = "start"


class Blame(StrEnum):
    """Who caused the failure. `US` is strictwire itself."""

    CALLER = "caller"
    TOOL = "tool"
    UPSTREAM = "upstream"
    US = "us"


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogueEntry:
    """One failure code."""

    code: str
    stage: Stage
    blame: Blame
    retryable: bool
    """Whether the same call, unchanged, may succeed later."""
    text: str
    """The default public message of a failure with this code."""
    action: str
    """What the client should do. Sent to clients in the `mcp` dialect."""
    meaning: str
    """When this code is used, for the documentation."""


def entry(code: str, where: str, *, text: str, action: str, meaning: str) -> CatalogueEntry:
    """Make an entry. `where` is the stage, the blame and, if the same call may succeed later, the word `retry`."""
    stage, blame, *retry = where.split()
    return CatalogueEntry(
        code=code,
        stage=Stage(stage),
        blame=Blame(blame),
        retryable=retry == ["retry"],
        text=text,
        action=action,
        meaning=meaning,
    )

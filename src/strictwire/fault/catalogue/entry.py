"""What the catalogue says of one code."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Stage(StrEnum):
    """How far a call got, in order."""

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
    """Whose fault it is."""

    CALLER = "caller"
    TOOL = "tool"
    UPSTREAM = "upstream"
    US = "us"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One code."""

    code: str
    stage: Stage
    blame: Blame
    retryable: bool
    """Whether the same call, unchanged, may succeed later."""
    text: str
    """The public sentence used where a failure brings none of its own."""
    action: str
    """What a client should do."""
    meaning: str
    """When this code is given, for whoever reads about it."""


def entry(code: str, where: str, *, text: str, action: str, meaning: str) -> Entry:
    """An entry; `where` is its stage, its blame and, if the call may be repeated unchanged, the word `retry`."""
    stage, blame, *retry = where.split()
    return Entry(
        code=code,
        stage=Stage(stage),
        blame=Blame(blame),
        retryable=retry == ["retry"],
        text=text,
        action=action,
        meaning=meaning,
    )

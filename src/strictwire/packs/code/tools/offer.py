"""The answer to a name that does not mean exactly one symbol: what it may mean instead."""

from __future__ import annotations

from strictwire.canon.json import JsonObject
from strictwire.packs.code.found import Found
from strictwire.packs.code.lookup import NotOneSymbol


def offer(problem: NotOneSymbol, nothing: JsonObject) -> Found:
    """Candidates, beside the empty members of the tool."""
    count = len(problem.candidates)
    if problem.is_ambiguous:
        summary = f"The name fits {count} symbols; call again with the uri and position of one."
    elif count:
        summary = f"No symbol has this path; {count} similar."
    else:
        summary = "No symbol has this name."
    return Found(members={**nothing, "summary": summary}, evidence=problem.evidence, candidates=problem.candidates)

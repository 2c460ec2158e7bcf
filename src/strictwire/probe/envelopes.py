"""Probes that check the envelope of every response so far. They send nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from strictwire.canon.json import JsonObject
from strictwire.client.message import Era, id_key
from strictwire.probe.definition import Evaluation, Lane, Probe, ProbeContext, ProbeFunction, judged, skipped
from strictwire.probe.harm import Harm
from strictwire.probe.observation import Observation
from strictwire.probe.record import Problem

_STANDARD: Final = frozenset({-32700, -32600, -32601, -32602, -32603})
_MODERN: Final = _STANDARD | {-32020, -32021, -32022}


def _find_bad_code(seen: Observation, era: Era) -> str | None:
    code = seen.code
    if code is None:
        return None
    if code == 0:
        return "code 0 has no meaning"
    if era is Era.MODERN and -32768 <= code <= -32000 and code not in _MODERN:
        return f"code {code} is reserved or retired in this revision"
    return None


def _find_bad_envelope(seen: Observation, _era: Era) -> str | None:
    message = seen.message
    if message is None:
        return None
    if message.get("jsonrpc") != "2.0":
        return "jsonrpc is not 2.0"
    if ("result" in message) == ("error" in message):
        return "the response does not have exactly one of result and error"
    if "error" in message and not _is_error(message["error"]):
        return "an error without an integer code and a message"
    return _find_bad_id(message, seen)


def _is_error(error: object) -> bool:
    return isinstance(error, dict) and type(error.get("code")) is int and isinstance(error.get("message"), str)


def _find_bad_id(message: JsonObject, seen: Observation) -> str | None:
    given = message.get("id")
    if given is None:
        return None if "error" in message else "a result without an id"
    sent = (seen.sent or {}).get("id")
    return None if sent is None or id_key(given) == id_key(sent) else "the id differs from that of the request"


def _find_null_id(seen: Observation, _era: Era) -> str | None:
    """The schema of 2026-07-28 has no null id; JSON-RPC 2.0 and older revisions do."""
    message = seen.message or {}
    return "an error with the id null" if "error" in message and "id" in message and message["id"] is None else None


def _find_bad_result(seen: Observation, era: Era) -> str | None:
    if era is Era.LEGACY or not seen.result:
        return None
    return None if isinstance(seen.result.get("resultType"), str) else "a result without resultType"


def _for_every_response(find: Callable[[Observation, Era], str | None]) -> ProbeFunction:
    async def run(context: ProbeContext) -> Evaluation:
        if not context.log:
            return skipped("there was no response")
        problems = {
            where: Problem(subject=where, got=what)
            for where, seen in context.log
            if (what := find(seen, context.era)) is not None
        }
        return judged(problems.values(), clean=f"{len(context.log)} responses checked")

    return run


PROBES: Final = (
    Probe(
        id="FORM_ERROR_CODES",
        purpose="Checks that every error has a code that the revision allows.",
        expected="a standard code, a code of the revision, or a code outside -32768..-32000",
        why="clients act on the code; 0 has no meaning and a reserved code has another one",
        run=_for_every_response(_find_bad_code),
        harm=Harm.STYLE,
        lane=Lane.AFTER,
        compared=False,
    ),
    Probe(
        id="FORM_ENVELOPE",
        purpose="Checks that every response is a valid JSON-RPC response to its request.",
        expected="jsonrpc 2.0, either result or error, and the id of the request",
        why="a client cannot match the response to its request, so the response is lost",
        run=_for_every_response(_find_bad_envelope),
        harm=Harm.WRONG,
        lane=Lane.AFTER,
        compared=False,
    ),
    Probe(
        id="FORM_ERROR_ID",
        purpose="Checks that an error without a request id omits the id.",
        expected="no id member, as the schema of the revision requires",
        why="a client that validates responses against the schema refuses the error",
        run=_for_every_response(_find_null_id),
        harm=Harm.STYLE,
        lane=Lane.AFTER,
        eras=frozenset({Era.MODERN}),
        compared=False,
    ),
    Probe(
        id="FORM_RESULT_TYPE",
        purpose="Checks that every result of the modern era has a resultType.",
        expected="resultType in every result",
        why="clients need it to distinguish a complete result from a request for input",
        run=_for_every_response(_find_bad_result),
        harm=Harm.STYLE,
        lane=Lane.AFTER,
        eras=frozenset({Era.MODERN}),
        compared=False,
    ),
)

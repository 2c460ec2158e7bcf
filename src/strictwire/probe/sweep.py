"""Probes of the form of every answer seen on a lane. They send nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from strictwire.canon.json import JsonObject
from strictwire.client.message import Era, id_key
from strictwire.probe.bench import Bench, Judge, Judged, Probe, found, passed, skipped
from strictwire.probe.observation import Observation

_STANDARD: Final = frozenset({-32700, -32600, -32601, -32602, -32603})
_MODERN: Final = _STANDARD | {-32020, -32021, -32022}


def _find_bad_code(seen: Observation, era: Era) -> str | None:
    code = seen.code
    if code is None:
        return None
    if code == 0:
        return "code 0 says nothing"
    if era is Era.MODERN and -32768 <= code <= -32000 and code not in _MODERN:
        return f"code {code} is reserved or retired in this revision"
    return None


def _find_bad_envelope(seen: Observation, era: Era) -> str | None:
    message = seen.message
    if message is None:
        return None
    if message.get("jsonrpc") != "2.0":
        return "jsonrpc is not 2.0"
    if ("result" in message) == ("error" in message):
        return "not exactly one of result and error"
    if "error" in message and not _is_error(message["error"]):
        return "an error without an integer code and a text"
    return _find_bad_id(message, seen, era)


def _is_error(error: object) -> bool:
    return isinstance(error, dict) and type(error.get("code")) is int and isinstance(error.get("message"), str)


def _find_bad_id(message: JsonObject, seen: Observation, era: Era) -> str | None:
    given = message.get("id")
    if given is None:
        if "error" not in message:
            return "a result without an id"
        return "id null, where the revision's schema wants it left out" if "id" in message and era is Era.MODERN else None
    sent = (seen.sent or {}).get("id")
    return None if sent is None or id_key(given) == id_key(sent) else "the id is not the one that was sent"


def _find_bad_result(seen: Observation, era: Era) -> str | None:
    if era is Era.LEGACY or not seen.result:
        return None
    return None if isinstance(seen.result.get("resultType"), str) else "a result without resultType"


def _sweep(find: Callable[[Observation, Era], str | None]) -> Judge:
    async def judge(bench: Bench) -> Judged:
        if not bench.log:
            return skipped("nothing was answered")
        hits = dict(_breaches(bench, find))
        shown = "; ".join(f"{what}: {', '.join(places[:4])}" for what, places in hits.items())
        return found(got=shown) if hits else passed(got=f"{len(bench.log)} answers read")

    return judge


def _breaches(bench: Bench, find: Callable[[Observation, Era], str | None]) -> Iterator[tuple[str, list[str]]]:
    places: dict[str, list[str]] = {}
    for where, seen in bench.log:
        what = find(seen, bench.era)
        if what is not None and where not in places.setdefault(what, []):
            places[what].append(where)
    yield from places.items()


PROBES: Final = (
    Probe(
        id="FORM_ERROR_CODES",
        purpose="Checks that every error has a code that its revision allows.",
        expected="a standard code, one of the revision's, or one outside -32768..-32000",
        why="clients branch on the code; 0 and reserved ones mean nothing or something else",
        judge=_sweep(_find_bad_code),
        compared=False,
    ),
    Probe(
        id="FORM_ENVELOPE",
        purpose="Checks that every answer is a JSON-RPC response to what was asked.",
        expected="jsonrpc 2.0, result or error, the id that was sent",
        why="an answer that cannot be matched is an answer lost",
        judge=_sweep(_find_bad_envelope),
        compared=False,
    ),
    Probe(
        id="FORM_RESULT_TYPE",
        purpose="Checks that every result of the modern era says its type.",
        expected="resultType in every result",
        why="clients must tell a complete result from a question",
        judge=_sweep(_find_bad_result),
        eras=frozenset({Era.MODERN}),
        compared=False,
    ),
)

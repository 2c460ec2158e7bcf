"""The handlers of the basics pack."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, NoReturn

from strictwire.canon.jcs import number_text, render_canonical
from strictwire.canon.json import JsonObject, JsonValue, NotStrict, parse
from strictwire.contract.handler import CallContext
from strictwire.contract.schema import SchemaProblem
from strictwire.fault.failure import Refused, fail
from strictwire.packs.basics.worker_pool import WorkerPool
from strictwire.packs.kit.text import measure

_SCHEMA_PROBLEMS: Final[Mapping[str, str]] = MappingProxyType(
    {
        SchemaProblem.UNKNOWN_DIALECT: "names an unknown dialect; expected a draft from 4 to 2020-12, or none",
        SchemaProblem.TOO_LARGE: "is larger than 1 MiB, or has more than 30,000 values",
        SchemaProblem.TOO_COMPLEX: "branches so often that checking one value would take too long",
        SchemaProblem.TOO_DEEP: "is nested deeper than 64 levels",
        SchemaProblem.REMOTE_REF: "refers to another document, which is never fetched; move that schema to $defs",
        SchemaProblem.INVALID: "is not valid in its dialect, or contains a $ref that cannot be resolved",
    }
)
"""The message for each reason why a schema cannot be used; it follows the word "schema"."""


class Validate:
    """The tool json_validate."""

    def __init__(self, workers: WorkerPool) -> None:
        self._workers = workers

    async def __call__(self, arguments: JsonObject, _context: CallContext) -> JsonObject:
        """Raises Refused: INVALID_PARAMS if the schema cannot be used, TIMEOUT, CAP_EXCEEDED."""
        answer = await self._workers.validate(arguments["document"], arguments["schema"])
        if "problem" in answer:
            pointer = f"/schema{answer['pointer']}"
            _refuse(pointer, "schema", reason=answer["problem"], sentence=_SCHEMA_PROBLEMS[answer["problem"]])
        return answer


def canonicalize(arguments: JsonObject, _context: CallContext) -> JsonObject:
    """The tool json_canonicalize. Raises Refused: INVALID_PARAMS with the reason and position if it is not strict JSON."""
    try:
        value = parse(arguments["document"].encode())
    except NotStrict as exc:
        where = "" if exc.position is None else f" at byte {exc.position}"
        sentence = f"is not strict JSON: {exc.fault.value.replace('_', ' ')}{where}"
        _refuse("/document", "contentMediaType", reason=exc.fault.value, sentence=sentence, position=exc.position)
    if not all(map(_has_double, _integers(value))):
        sentence = "contains an integer that a double cannot represent, so its canonical form would be another number"
        _refuse("/document", "contentMediaType", reason="number_range", sentence=sentence)
    raw = render_canonical(value)
    return {"canonical": raw.decode(), "sha256": hashlib.sha256(raw).hexdigest(), "bytes": len(raw)}


def measure_text(arguments: JsonObject, _context: CallContext) -> JsonObject:
    """The tool text_measure."""
    return measure(arguments["text"]).as_json()


def _refuse(path: str, keyword: str, *, reason: str, sentence: str, position: int | None = None) -> NoReturn:
    subject = path.split("/")[1]
    details: dict[str, JsonValue] = {
        "reason": reason,
        "violations": [{"path": path, "keyword": keyword, "message": f"{subject} {sentence}"}],
    }
    if position is not None:
        details["position"] = position
    raise Refused(fail("INVALID_PARAMS", text=f"The {subject} {sentence}", details=details))


def _integers(value: Any) -> Iterator[int]:
    pending = [value]
    while pending:
        part = pending.pop()
        if isinstance(part, dict):
            pending.extend(part.values())
        elif isinstance(part, list):
            pending.extend(part)
        elif type(part) is int:
            yield part


def _has_double(number: int) -> bool:
    """Return whether RFC 8785, which writes every number as a double, keeps this integer.

    It does if the integer equals a double, or if it is spelled with the very digits in which that double is written.
    """
    try:
        return float(number) == number or number_text(number) == str(number)
    except OverflowError:
        return False

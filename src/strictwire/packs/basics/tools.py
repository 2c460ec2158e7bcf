"""The handlers of the basics pack."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, NoReturn

from strictwire.canon.jcs import number_text, render_canonical
from strictwire.canon.json import JsonObject, JsonValue, NotStrict, parse
from strictwire.contract.handler import CallContext
from strictwire.contract.schema import Problem
from strictwire.fault.failure import Refused, fail
from strictwire.packs.basics.judges import Judges
from strictwire.packs.kit.text import measure

_SCHEMA_PROBLEMS: Final[Mapping[str, str]] = MappingProxyType(
    {
        Problem.UNKNOWN_DIALECT: "names a dialect that is not known; expected a draft from 4 to 2020-12, or none",
        Problem.TOO_LARGE: "is larger than 1 MiB",
        Problem.TOO_DEEP: "is nested deeper than 64 levels",
        Problem.REMOTE_REF: "refers to another document, which is never fetched; put it under $defs",
        Problem.INVALID: "is not valid in its dialect, or a reference in it leads nowhere",
    }
)
"""The sentence for each reason why a schema cannot be used."""


class Validate:
    """json_validate."""

    def __init__(self, judges: Judges) -> None:
        self._judges = judges

    async def __call__(self, arguments: JsonObject, _context: CallContext) -> JsonObject:
        """Raises Refused: INVALID_PARAMS the schema cannot be used, TIMEOUT, CAP_EXCEEDED."""
        answer = await self._judges.ask(arguments["document"], arguments["schema"])
        if "problem" in answer:
            pointer = f"/schema{answer['pointer']}"
            _refuse(pointer, "schema", reason=answer["problem"], sentence=_SCHEMA_PROBLEMS[answer["problem"]])
        return answer


def canonicalize(arguments: JsonObject, _context: CallContext) -> JsonObject:
    """json_canonicalize. Raises Refused: INVALID_PARAMS, with where and why the text is not strict JSON."""
    try:
        value = parse(arguments["document"].encode())
    except NotStrict as exc:
        where = "" if exc.position is None else f" at byte {exc.position}"
        sentence = f"is not strict JSON: {exc.fault.value.replace('_', ' ')}{where}"
        _refuse("/document", "contentMediaType", reason=exc.fault.value, sentence=sentence, position=exc.position)
    if not all(map(_keeps_its_value, _integers(value))):
        sentence = "holds an integer beyond what a double can carry, so its canonical form would be another number"
        _refuse("/document", "contentMediaType", reason="number_range", sentence=sentence)
    raw = render_canonical(value)
    return {"canonical": raw.decode(), "sha256": hashlib.sha256(raw).hexdigest(), "bytes": len(raw)}


def measure_text(arguments: JsonObject, _context: CallContext) -> JsonObject:
    """text_measure."""
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
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            waiting.extend(part.values())
        elif isinstance(part, list):
            waiting.extend(part)
        elif type(part) is int:
            yield part


def _keeps_its_value(number: int) -> bool:
    """RFC 8785 writes every number as a double: fine if it is one, or is written in the digits that stand for one."""
    try:
        return float(number) == number or number_text(number) == str(number)
    except OverflowError:
        return False

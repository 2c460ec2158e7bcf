"""Stage 5: does the answer keep the tool's promise? JSON, size, output schema."""

from __future__ import annotations

from typing import Final

from strictwire.canon.json import JsonObject, NotJson, as_json, render
from strictwire.contract.handler import ABSENT, Answer
from strictwire.fault.failure import Failure, fail
from strictwire.pipeline.call import Done, Kind, Operation

_EMPTY: Final = b"{}"


def verify(operation: Operation, returned: object) -> Done | Failure:
    """OUTPUT_INVALID, CAP_EXCEEDED, or the answer as JSON."""
    try:
        done = _as_done(operation, returned)
    except NotJson:
        return fail("OUTPUT_INVALID", details={"reason": "not_json"})
    beside = len(render(list(done.content))) if done.structured and done.content else 0
    if len(done.raw) + beside > operation.caps.response_bytes:
        return fail("CAP_EXCEEDED", details={"limitBytes": operation.caps.response_bytes})
    promises = operation.promises
    if promises is None:
        return done
    if not done.structured:
        return fail("OUTPUT_INVALID", details={"reason": "no_structured_content"})
    if promises.accepts(done.value):
        return done
    violations = [each.as_details() for each in promises.find_violations(done.value)]
    return fail("OUTPUT_INVALID", details={"violations": violations})


def _as_done(operation: Operation, returned: object) -> Done:
    if isinstance(returned, Answer):
        return _from_answer(returned)
    if operation.kind is Kind.TOOL and operation.promises is None:
        return _from_loose(returned)
    value, raw = as_json(returned)
    return Done(value=value, raw=raw)


def _from_answer(answer: Answer) -> Done:
    content, raw_content = as_json(list(answer.content))
    meta, _ = as_json(dict(answer.meta))
    items: tuple[JsonObject, ...] = tuple(content) if isinstance(content, list) else ()
    facts = meta if isinstance(meta, dict) else {}
    if answer.structured is ABSENT:
        return Done(value=None, raw=raw_content, content=items, meta=facts, structured=False)
    value, raw = as_json(answer.structured)
    return Done(value=value, raw=raw, content=items, meta=facts)


def _from_loose(returned: object) -> Done:
    """A tool without an output schema: text is content, nothing is no content, an object is structured."""
    if returned is None:
        return Done(value=None, raw=_EMPTY, structured=False)
    if isinstance(returned, str):
        value, raw = as_json(returned)
        return Done(value=None, raw=raw, content=({"type": "text", "text": value},), structured=False)
    value, raw = as_json(returned)
    if isinstance(value, dict):
        return Done(value=value, raw=raw)
    text = render(value).decode()
    return Done(value=None, raw=raw, content=({"type": "text", "text": text},), structured=False)

"""Failures that authors raise like Python exceptions.

    ToolError        TOOL_FAILED    the tool cannot do it, for a reason that the client may know
      NotFound       NOT_FOUND      what the arguments name does not exist
      Conflict       CONFLICT       the state does not allow it: it exists already, or has changed
      Unavailable    UNAVAILABLE    something that the tool needs does not answer; the same call may succeed later

A subclass may have a code of its own, which refines that of its base:

    class OutOfStock(Conflict, code="shop/OUT_OF_STOCK", meaning="The item is sold out.", action="Choose another item."):
        ...

    raise OutOfStock("item 7")

Dialects that allow codes of authors show it; the others show the code of the base.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar, Final

from strictwire.canon.json import JsonValue
from strictwire.fault.catalogue import CATALOGUE
from strictwire.fault.failure import NO_DETAILS, Failure, Refused
from strictwire.fault.failure_code import FailureCode
from strictwire.fault.public import joined

CODE: Final = re.compile(r"[a-z][a-z0-9-]{0,31}/[A-Z][A-Z0-9_]{0,63}")
"""A namespace, which no code of the catalogue has, and a code."""


def _of_catalogue(code: str) -> FailureCode:
    entry = CATALOGUE[code]
    return FailureCode(code=code, meaning=entry.meaning, action=entry.action, retryable=entry.retryable)


class ToolError(Refused):
    """The tool cannot do what the caller asks. The text is sent to the client, so it must not contain secrets."""

    base: ClassVar[str] = "TOOL_FAILED"
    """The code of the catalogue."""
    described: ClassVar[FailureCode] = _of_catalogue("TOOL_FAILED")

    def __init_subclass__(
        cls,
        *,
        code: str | None = None,
        meaning: str | None = None,
        action: str | None = None,
        retryable: bool | None = None,
        **others: Any,
    ) -> None:
        """Give the class a code of its own. Raises TypeError: the code has no namespace, or its texts are missing."""
        super().__init_subclass__(**others)
        inherited = cls.described
        if code is not None and (not CODE.fullmatch(code) or not meaning or not action):
            raise TypeError(
                f"class {cls.__name__}: use code='namespace/UPPER_CASE' together with meaning='...' and action='...', got "
                f"code={code!r}"
            )
        cls.described = FailureCode(
            code=code or inherited.code,
            meaning=meaning or inherited.meaning,
            action=action or inherited.action,
            retryable=inherited.retryable if retryable is None else retryable,
        )

    def __init__(self, text: str = "", *, action: str | None = None, details: Mapping[str, JsonValue] = NO_DETAILS) -> None:
        """`text` says what failed, `action` what the client should do, `details` are fields for programs."""
        entry, described = CATALOGUE[self.base], self.described
        is_own = described.code != self.base
        phrase = described.meaning.rstrip(".") if is_own else entry.text
        failure = Failure(
            code=self.base,
            stage=entry.stage,
            blame=entry.blame,
            retryable=described.retryable,
            text=(text or phrase) if self.base == "TOOL_FAILED" and not is_own else joined(phrase, text),
            details=details,
            own_code=described.code if is_own else None,
            action=action or (None if described.action == entry.action else described.action),
        )
        super().__init__(failure)

    def __str__(self) -> str:
        return self.failure.text


class NotFound(ToolError):
    """What the arguments name does not exist: `raise NotFound("note 7")`."""

    base = "NOT_FOUND"
    described = _of_catalogue("NOT_FOUND")


class Conflict(ToolError):
    """The state does not allow the call: `raise Conflict("note 7 exists already")`."""

    base = "CONFLICT"
    described = _of_catalogue("CONFLICT")


class Unavailable(ToolError):
    """Something that the tool needs does not answer; the same call may succeed later: `raise Unavailable("weather API")`."""

    base = "UNAVAILABLE"
    described = _of_catalogue("UNAVAILABLE")

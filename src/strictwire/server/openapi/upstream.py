"""The HTTP request of a call, and what its response means."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import quote

from strictwire.canon.json import JsonObject, JsonValue, NotStrict, parse, render
from strictwire.contract.handler import CallContext
from strictwire.fault.failure import Refused, fail
from strictwire.fault.plain import plain_text
from strictwire.fault.raised import Conflict, NotFound, ToolError, Unavailable
from strictwire.fault.violations import Violation
from strictwire.server.openapi.response import HttpClient, Response, is_success, send

MAX_REASON: Final = 300
"""Characters of the API's own words in a failure."""

_SEPARATOR: Final = re.compile(r"[/\\]")

log = logging.getLogger("strictwire.openapi")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """Where an argument goes."""

    name: str
    """The name in the API."""
    place: str
    """`path`, `query`, `header` or `body`."""
    joined: bool = False
    """Whether the values of a list are joined by commas, instead of repeating the name."""


_FAILURES: Final[Mapping[int, type[ToolError]]] = MappingProxyType({404: NotFound, 409: Conflict, 429: Unavailable})


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiCall:
    """The handler of an operation."""

    client: HttpClient
    method: str
    path: str
    sent: Mapping[str, Sent]
    """By argument."""
    wraps: bool
    """Whether the value of the response is the member `result`."""
    has_output: bool
    """Whether the response is structured content; otherwise it is text."""
    limit: int
    """Bytes of the response."""

    async def __call__(self, arguments: JsonObject, _call: CallContext) -> Any:
        """Send the request. Raises Refused, or one of the failures of `fault.raised`."""
        options, path = self._options(arguments)
        try:
            response = await send(self.client, self.method, path, options, self.limit)
        except Refused:
            raise
        except Exception as exc:
            # Whatever the client raises: HTTP libraries have no error in common. The traceback is for the log alone.
            log.exception("%s %s failed", self.method, self.path)
            raise Unavailable("the API does not answer") from exc
        return self._read(response)

    def _options(self, arguments: JsonObject) -> tuple[dict[str, Any], str]:
        path, query, headers, options = self.path, list[tuple[str, str]](), dict[str, str](), dict[str, Any]()
        for argument, value in arguments.items():
            sent = self.sent[argument]
            if sent.place == "body":
                options["json"] = value
            elif sent.place == "query":
                query += [(sent.name, text) for text in _texts(value, joined=sent.joined)]
            else:
                text = ",".join(_texts(value, joined=True))
                _check_text(argument, text, sent.place)
                if sent.place == "path":
                    path = path.replace(f"{{{sent.name}}}", quote(text, safe=""))
                else:
                    headers[sent.name] = text
        return options | ({"params": query} if query else {}) | ({"headers": headers} if headers else {}), path

    def _read(self, response: Response) -> Any:
        status, content = response.status, response.content
        if not is_success(status):
            raise _failure(status, content)
        if not self.has_output:
            return content.decode("utf-8", "replace") if content else None
        try:
            value = parse(content)
        except NotStrict as exc:
            raise ToolError("The API answered with JSON that is invalid or too large", details={"status": status}) from exc
        return {"result": value} if self.wraps else value


def _texts(value: JsonValue, *, joined: bool) -> list[str]:
    if isinstance(value, list):
        texts = [_text(each) for each in value]
        return [",".join(texts)] if joined else texts
    return [_text(value)]


def _text(value: JsonValue) -> str:
    return value if isinstance(value, str) else render(value).decode()


def _check_text(argument: str, text: str, place: str) -> None:
    """Refuse a value that would change the path or the headers beyond its place. Raises Refused(INVALID_PARAMS)."""
    # `/` is sent as %2F, but many servers and proxies decode it before they resolve `..`.
    is_step = place == "path" and (text == "" or not {".", ".."}.isdisjoint(_SEPARATOR.split(text)))
    if is_step or (place == "header" and not (text.isprintable() and text.isascii())):
        reason = "must not be empty, and have no '.' or '..' between slashes" if is_step else "must be printable ASCII"
        violation = Violation(path=f"/{argument}", keyword="pattern", message=f"{argument}: it {reason}")
        raise Refused(fail("INVALID_PARAMS", details={"violations": [violation.as_details()]}))


def _failure(status: int, content: bytes) -> ToolError:
    kind = Unavailable if status >= 500 else _FAILURES.get(status, ToolError)
    reason = _reason(content)
    text = f"the API answered {status}" + (f": {reason}" if reason else "")
    return kind(text if kind is not ToolError else text[:1].upper() + text[1:], details={"status": status})


def _reason(content: bytes) -> str:
    """The API's own words, if it says them as most do. Other bodies may have anything in them, and are not passed on."""
    try:
        value = parse(content)
    except NotStrict:
        return ""
    if not isinstance(value, dict):
        return ""
    found = next((value[name] for name in ("detail", "message", "title", "error") if isinstance(value.get(name), str)), "")
    return plain_text(str(found), MAX_REASON)

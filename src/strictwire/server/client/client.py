"""`Client`: calls any MCP server, over stdio, HTTP or in memory, in both eras.

async with Client(["npx", "-y", "some-server"]) as client:
    for tool in await client.list_tools():
        print(tool.name, tool.safety)
    result = await client.call_tool("search", {"query": "red shoes"})
    print(result.text, result.structured)

A call that fails raises: `ToolFailed` if the tool failed, `RequestFailed` if the server refused it, another `ClientError` if
the connection failed. Each has `failure`, with a code, whether to retry, and details.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from importlib import metadata
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, TypeVar, overload

import msgspec

from strictwire.canon.json import JsonObject, JsonValue
from strictwire.client.channel import NO_HEADERS, Callbacks
from strictwire.client.errors import NotUnderstood, OutputInvalid, RequestFailed
from strictwire.client.message import Era, Identity, RemoteError
from strictwire.client.questions import Answers, ListRoots, OnElicit, OnSample
from strictwire.client.session import Session, SessionOptions
from strictwire.contract.task import REQUIRED_CAPABILITIES
from strictwire.server.client.callbacks import METHOD_NOT_FOUND, Callback, CallbackRunner, answer_requests
from strictwire.server.client.catalogue import KnownTools
from strictwire.server.client.changes import Changes, Interest, subscribed
from strictwire.server.client.connection import NOT_CONNECTED, Connection, Sending
from strictwire.server.client.failing import check_reply, check_tool_result
from strictwire.server.client.reading import (
    read_completion,
    read_log,
    read_progress,
    read_prompt,
    read_prompt_result,
    read_resource,
    read_resource_result,
    read_server,
    read_template,
    read_tool,
    read_tool_result,
)
from strictwire.server.client.targets import AnyTarget, target_of
from strictwire.server.client.values import (
    Completion,
    LogMessage,
    Progress,
    Prompt,
    PromptResult,
    Resource,
    ResourceResult,
    ResourceTemplate,
    ServerInfo,
    Tool,
    ToolResult,
)
from strictwire.server.declare.pydantic import encode_special
from strictwire.wire.names import LEVELS, META_SERVER

T = TypeVar("T")

HEADER_MISMATCH = -32020
"""Error code of a server that requires headers which repeat arguments. It has not run the tool."""


class Client:
    """A client of one MCP server. Use `async with`: the server is reached at its start, and left at its end."""

    def __init__(
        self,
        target: AnyTarget,
        *,
        timeout: float = 60.0,
        connect_timeout: float = 30.0,
        era: Literal["modern", "legacy"] | None = None,
        name: str = "strictwire",
        version: str | None = None,
        on_log: Callback[LogMessage] | None = None,
        log_level: str = "info",
        on_elicit: OnElicit | None = None,
        on_sample: OnSample | None = None,
        roots: Sequence[str | Path] | ListRoots | None = None,
        on_stderr: Callable[[bytes], None] | None = None,
        tasks: bool = False,
        validate: bool = True,
    ) -> None:
        """`target` is a Server, a URL, the words of a command, or a `Stdio`, `Http` or `InMemory` with more options.

        - `timeout`: seconds for one request; a call can have its own. The time of `on_elicit` and `on_sample` is extra.
        - `connect_timeout`: seconds for the start of the server and the negotiation.
        - `era`: require 2026-07-28 (`modern`) or an older revision (`legacy`). Default: what the server speaks.
        - `name`, `version`: how the client introduces itself to servers. Default: this package.
        - `on_log`: takes the log messages of the server from `log_level` on.
        - `on_elicit`, `on_sample`, `roots`: answer requests of the server. Each is declared as a capability if it is given.
        - `on_stderr`: takes what a server process writes to stderr.
        - `tasks`: let the server run calls as tasks. `call_tool` waits until the task has ended, however long that takes.
        - `validate`: check structured content against the output schema of the tool.

        Raises TypeError or ValueError: the target or the level is none.
        """
        if log_level not in LEVELS:
            raise ValueError(f"log_level: expected one of {', '.join(LEVELS)}, got {log_level!r}")
        answers = Answers(on_elicit=on_elicit, on_sample=on_sample, list_roots=_roots(roots))
        declared = answers.capabilities | (REQUIRED_CAPABILITIES if tasks else {})
        options = SessionOptions(
            identity=Identity(name=name, version=version or metadata.version("strictwire"), capabilities=declared),
            callbacks=Callbacks(on_notification=self._take, on_request=answer_requests(answers), on_stderr=on_stderr),
            seconds=timeout,
            detect_seconds=connect_timeout,
            era=None if era is None else Era(era),
            listens=True,
        )
        self._seconds = timeout
        self._connection = Connection(target_of(target), options, answers, takes_tasks=tasks)
        self._connection.level = None if on_log is None else log_level
        self._on_log = on_log
        self._runner = CallbackRunner()
        self._tools = KnownTools()
        self._validate = validate
        self._opened: Session | None = None

    async def __aenter__(self) -> Self:
        """Connect. Raises ClientError, and RuntimeError: the client was connected before."""
        self._opened = await self._connection.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the session, and a server that the client started."""
        await self._connection.close()
        await self._runner.close()

    @property
    def protocol_version(self) -> str:
        """The negotiated revision of MCP."""
        return self._session.version

    @property
    def capabilities(self) -> JsonObject:
        """What the server declares."""
        return self._session.capabilities

    @property
    def server(self) -> ServerInfo:
        """How the server describes itself. Raises NotUnderstood."""
        opening = self._session.opening.value
        meta = opening.get("_meta")
        info = opening.get("serverInfo") or (meta.get(META_SERVER) if isinstance(meta, dict) else None)
        return read_server(opening, info)

    @property
    def _session(self) -> Session:
        if self._opened is None:
            raise RuntimeError(NOT_CONNECTED)
        return self._connection.current or self._opened

    async def list_tools(self) -> tuple[Tool, ...]:
        """All tools, over all pages. Raises ClientError."""
        return self._tools.replace(await self._list("tools/list", "tools", read_tool))

    async def list_resources(self) -> tuple[Resource, ...]:
        """All resources, over all pages. Raises ClientError."""
        return await self._list("resources/list", "resources", read_resource)

    async def list_resource_templates(self) -> tuple[ResourceTemplate, ...]:
        """All templates of resources, over all pages. Raises ClientError."""
        return await self._list("resources/templates/list", "resourceTemplates", read_template)

    async def list_prompts(self) -> tuple[Prompt, ...]:
        """All prompts, over all pages. Raises ClientError."""
        return await self._list("prompts/list", "prompts", read_prompt)

    @overload
    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = None,
        on_progress: Callback[Progress] | None = None,
    ) -> ToolResult: ...

    @overload
    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        returns: type[T],
        timeout: float | None = None,
        on_progress: Callback[Progress] | None = None,
    ) -> T: ...

    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        returns: Any = None,
        timeout: float | None = None,
        on_progress: Callback[Progress] | None = None,
    ) -> Any:
        """Call a tool. With `returns`, the structured content as a value of that type; otherwise the whole result.

        Raises ToolFailed: the tool failed. RequestFailed: the server refused the call. OutputInvalid: the result violates
        the output schema, or does not fit `returns`. Other ClientErrors: the connection failed. Cancelling the task cancels
        the call at the server.
        """
        given = _plain(arguments or {})
        params: JsonObject = {"name": name, "arguments": given}
        try:
            answer = await self._call(params, timeout, on_progress)
        except RequestFailed as exc:
            if exc.number != HEADER_MISMATCH:
                raise
            await self.list_tools()  # the server requires headers that only its list of tools names
            answer = await self._call(params, timeout, on_progress)
        check_tool_result(name, answer)
        result = read_tool_result(name, answer)
        if self._validate:
            await self._check_output(result)
        return result if returns is None else result.convert_to(returns)

    async def read_resource(self, uri: str, *, timeout: float | None = None) -> ResourceResult:
        """Read a resource. Raises ClientError."""
        return read_resource_result(await self._ask(uri, "resources/read", {"uri": uri}, timeout))

    async def get_prompt(
        self, name: str, arguments: Mapping[str, str] | None = None, *, timeout: float | None = None
    ) -> PromptResult:
        """Fill in a prompt. Raises ClientError."""
        params: JsonObject = {"name": name, "arguments": dict(arguments or {})}
        return read_prompt_result(await self._ask(name, "prompts/get", params, timeout))

    async def complete(
        self,
        argument: str,
        value: str,
        *,
        prompt: str | None = None,
        template: str | None = None,
        context: Mapping[str, str] | None = None,
    ) -> Completion:
        """Values that complete an argument of a prompt, or a variable of a resource template. Raises ClientError.

        `context` has the values of the other arguments. Raises ValueError: not exactly one of `prompt` and `template`.
        """
        if (prompt is None) == (template is None):
            raise ValueError("complete: pass either prompt=NAME or template=URI_TEMPLATE")
        ref = {"type": "ref/prompt", "name": prompt} if prompt is not None else {"type": "ref/resource", "uri": template}
        params: JsonObject = {"ref": ref, "argument": {"name": argument, "value": value}}
        if context is not None:
            params["context"] = {"arguments": dict(context)}
        return read_completion(await self._ask(argument, "completion/complete", params, None))

    async def ping(self, *, timeout: float | None = None) -> None:
        """Check that the server answers: with `ping`, or `server/discover` in the modern era. Raises ClientError."""
        session = await self._connection.session()
        await self._ask("ping", "ping" if session.era is Era.LEGACY else "server/discover", {}, timeout)

    async def set_log_level(self, level: str) -> None:
        """Get log messages from this level on. Raises ValueError: no such level, and ClientError."""
        if level not in LEVELS:
            raise ValueError(f"expected one of {', '.join(LEVELS)}, got {level!r}")
        await self._connection.set_level(level)

    async def request(
        self, method: str, params: Mapping[str, JsonValue] | None = None, *, timeout: float | None = None
    ) -> JsonObject:
        """The raw result of any method, for extensions. It is never repeated. Raises ClientError."""
        how = Sending(seconds=timeout)
        return check_reply(method, await self._connection.request(method, dict(params or {}), how))

    @asynccontextmanager
    async def listen(
        self, *, tools: bool = False, prompts: bool = False, resources: bool = False, uris: Sequence[str] = ()
    ) -> AsyncIterator[Changes]:
        """Subscribe to changes of lists, and of the content of the resources in `uris`.

        async with client.listen(tools=True) as changes:
            async for change in changes:
                ...

        A change that is not read yet is not reported again. After a connection that broke and was opened again, everything
        counts as changed. Raises ClientError: the server refused the subscription, or the connection broke. ValueError:
        nothing is named.
        """
        wanted = {"tools": tools, "prompts": prompts, "resources": resources}
        interest = Interest(kinds=frozenset(kind for kind, is_on in wanted.items() if is_on), uris=tuple(uris))
        if not interest.filter:
            raise ValueError("listen: name what to listen for: tools, prompts, resources or uris")
        async with subscribed(self._connection, interest, self._seconds) as changes:
            yield changes

    async def _list(self, method: str, member: str, read: Callable[[object], T]) -> tuple[T, ...]:
        """A whole list. It is empty if the server does not declare the capability, the first part of the method."""
        if method.partition("/")[0] not in (await self._connection.session()).capabilities:
            return ()
        listed = await self._connection.list_all(method, member)
        if isinstance(listed, RemoteError):
            if listed.code != METHOD_NOT_FOUND:
                check_reply(method, listed)
            return ()
        return tuple(map(read, listed))

    async def _ask(self, what: str, method: str, params: JsonObject, timeout: float | None) -> JsonObject:
        """The result of a request that only reads."""
        how = Sending(seconds=timeout, is_repeatable=True)
        return check_reply(what, await self._connection.request(method, params, how))

    async def _call(self, params: JsonObject, timeout: float | None, on_progress: Callback[Progress] | None) -> JsonObject:
        name, arguments = str(params["name"]), params["arguments"]
        tool, runner = self._tools.find(name), CallbackRunner()
        how = Sending(
            seconds=timeout,
            is_repeatable=tool is not None and tool.is_repeatable,
            headers=self._tools.headers(name, arguments) if isinstance(arguments, dict) else NO_HEADERS,
            on_progress=None if on_progress is None else lambda given: runner.run(on_progress, read_progress(given)),
        )
        try:
            reply = await self._connection.request("tools/call", params, how)
        except BaseException:
            await runner.close()
            raise
        await runner.join()
        return check_reply(name, reply)

    async def _check_output(self, result: ToolResult) -> None:
        """Raises OutputInvalid. The list of tools is read if there is structured content, and again before a refusal."""
        if not self._tools.is_read and "structuredContent" in result.raw:
            await self.list_tools()
            self._tools.check_output(result)
            return
        try:
            self._tools.check_output(result)
        except OutputInvalid:
            await self.list_tools()  # the schema may have changed since
            self._tools.check_output(result)

    def _take(self, message: JsonObject, _raw: bytes) -> None:
        """Handle a notification that belongs to no request."""
        method, params = message.get("method"), message.get("params")
        if method == "notifications/tools/list_changed":
            self._tools.forget()
        elif method == "notifications/message" and self._on_log is not None and isinstance(params, dict):
            try:
                found = read_log(params)
            except NotUnderstood:
                return
            self._runner.run(self._on_log, found)


def _plain(arguments: Mapping[str, Any]) -> JsonObject:
    """Arguments as JSON values: dates, enums, dataclasses and models are converted. Raises TypeError."""
    plain: JsonObject = msgspec.to_builtins(dict(arguments), str_keys=True, enc_hook=encode_special)
    return plain


def _roots(given: Sequence[str | Path] | ListRoots | None) -> ListRoots | None:
    """A function that lists roots. A path becomes a `file:` URI."""
    if given is None or callable(given):
        return given
    uris = [each.resolve().as_uri() if isinstance(each, Path) else each for each in given]
    return lambda: uris

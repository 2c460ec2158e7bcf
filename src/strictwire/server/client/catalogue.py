"""The tools that a Client has seen: their schemas check results, and decide about headers and repetition."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping

from strictwire.canon.json import JsonObject
from strictwire.client.errors import NotUnderstood, OutputInvalid
from strictwire.client.mirroring import argument_headers
from strictwire.contract.conform import Conformer, compile_schema
from strictwire.contract.registry import ContractRefused
from strictwire.contract.schema import SchemaRefused
from strictwire.fault.escape import for_terminal
from strictwire.profiles.mcp.header_echo import Mirrored, mirrored_arguments
from strictwire.server.client.values import Tool, ToolResult

log = logging.getLogger("strictwire.client")


class KnownTools:
    """The last list of tools."""

    def __init__(self) -> None:
        self._tools: dict[str, Tool] = {}
        self._mirrored: dict[str, tuple[Mirrored, ...]] = {}
        self._refused: frozenset[str] = frozenset()
        self.is_read = False
        """Whether the list has been read."""

    def replace(self, tools: Iterable[Tool]) -> tuple[Tool, ...]:
        """Remember a new list. Returns it without the tools whose `x-mcp-header` a client must not follow."""
        self._tools, self._mirrored, refused = {}, {}, set()
        for tool in tools:
            try:
                self._mirrored[tool.name] = mirrored_arguments(tool.input_schema)
            except ContractRefused as exc:
                log.warning("tool %s is left out: %s", for_terminal(tool.name[:100]), for_terminal(str(exc)[:200]))
                refused.add(tool.name)
            else:
                self._tools[tool.name] = tool
        self._refused = frozenset(refused)
        self.is_read = True
        return tuple(self._tools.values())

    def forget(self) -> None:
        """The list has changed at the server."""
        self.is_read = False

    def find(self, name: str) -> Tool | None:
        """A tool of the list. Raises NotUnderstood: it must not be called."""
        if name in self._refused:
            raise NotUnderstood(f"{for_terminal(name[:100])} must not be called: its x-mcp-header is invalid")
        return self._tools.get(name)

    def headers(self, name: str, arguments: Mapping[str, object]) -> dict[str, str]:
        """The headers that repeat arguments."""
        mirrored = self._mirrored.get(name, ())
        return argument_headers(mirrored, dict(arguments)) if mirrored else {}

    def check_output(self, result: ToolResult) -> None:
        """Raises OutputInvalid: the structured content violates the output schema of the tool."""
        tool = self._tools.get(result.tool)
        if tool is None or tool.output_schema is None:
            return
        if "structuredContent" not in result.raw:
            raise OutputInvalid(result.tool, [{"path": "", "keyword": "required"}])
        conformer = _compiled(tool.name, tool.output_schema)
        if not conformer.accepts(result.structured):
            violations = conformer.find_violations(result.structured)
            raise OutputInvalid(result.tool, [each.as_details() for each in violations])


def _compiled(tool: str, schema: JsonObject) -> Conformer:
    try:
        return compile_schema(schema)
    except SchemaRefused as exc:
        raise OutputInvalid(tool, [{"path": "", "keyword": "outputSchema"}]) from exc

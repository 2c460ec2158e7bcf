"""mcp.server.info, mcp.tools.list and mcp.tool.describe: what the server itself offers."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Final

from strictwire.contract.editor_entry import describe_tool, show_tool
from strictwire.contract.tool import ToolContract
from strictwire.fault.failure import Refused, fail
from strictwire.packs.pack import EditorFacts
from strictwire.packs.unity.project.project import Project
from strictwire.packs.unity.tools.reply import Reply, Request, shorten

_PLATFORMS: Final[Mapping[str, str]] = {"linux": "LinuxEditor", "darwin": "OSXEditor", "win32": "WindowsEditor"}
"""Unity's names for the systems an Editor runs on, by Python's."""

UNKNOWN_VERSION: Final = "unknown"

SERVER_VERSION: Final = version("strictwire")


def editor_facts(project: Project) -> EditorFacts:
    """What `server/info` reports of a project."""
    unity = project.editor_version or UNKNOWN_VERSION
    return EditorFacts(unity_version=unity, platform=_PLATFORMS.get(sys.platform, sys.platform))


class Platform:
    """The tools over a fixed catalogue."""

    def __init__(self, contracts: Sequence[ToolContract]) -> None:
        self._contracts = {each.name: each for each in sorted(contracts, key=lambda each: each.name)}

    def info(self, request: Request) -> Reply:
        """mcp.server.info."""
        facts = editor_facts(request.snapshot.project)
        core = {each.category for each in self._contracts.values() if each.listed}
        output = {
            "serverVersion": SERVER_VERSION,
            "unityVersion": facts.unity_version,
            "platform": facts.platform,
            "enabledToolCategories": sorted(core),
            "tier": request.tier,
        }
        return Reply(output=output, text=f"strictwire {SERVER_VERSION}, Unity {facts.unity_version}, tier {request.tier}")

    def list_tools(self, request: Request) -> Reply:
        """mcp.tools.list. Filters must all match, letter by letter."""
        category, tier = request.arguments.get("category"), request.arguments.get("tier")
        found = [
            show_tool(each)
            for each in self._contracts.values()
            if category in (None, each.category) and tier in (None, each.tier)
        ]
        lines = [f"{each['id']} ({each['tier']}): {each['description']}" for each in found]
        return Reply(output={"tools": found}, text=shorten(lines, "... {} more tools") or "No tool matches.")

    def describe(self, request: Request) -> Reply:
        """mcp.tool.describe. Raises Refused(NOT_FOUND)."""
        name = request.arguments["toolId"]
        contract = self._contracts.get(name)
        if contract is None:
            text = "There is no such tool; mcp.tools.list names them all"
            raise Refused(fail("NOT_FOUND", text=text, details={"toolId": name}))
        return Reply(output=describe_tool(contract), text=f"{name}: {contract.description}")

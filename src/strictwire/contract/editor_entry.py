"""How EditorMCP lists and describes a tool (E4, E5). Used by the `editor/0.1` profile and by tools that list tools."""

from __future__ import annotations

from strictwire.canon.json import JsonObject
from strictwire.contract.tool import ToolContract


def show_tool(tool: ToolContract) -> JsonObject:
    """One entry of tools/list (E4)."""
    return {
        "id": tool.name,
        "name": tool.title or tool.name,
        "description": tool.description,
        "category": tool.category,
        "safetyLevel": tool.safety.value,
        "tier": tool.tier,
    }


def describe_tool(tool: ToolContract) -> JsonObject:
    """The answer of tools/describe (E5): the schemas that the tool is judged by, as they are."""
    return show_tool(tool) | {"inputs": tool.input_schema, "outputs": tool.output_schema or {}, "notes": tool.notes}

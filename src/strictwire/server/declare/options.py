"""The options of `@server.tool`, and their checks."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, TypedDict

from strictwire.canon.json import JsonObject, JsonValue
from strictwire.contract.safety import Safety, SafetyRefused, declare_safety
from strictwire.contract.tags import TagsRefused, check_tags
from strictwire.contract.task import RENDERED, TaskPolicy
from strictwire.contract.tool import EMPTY, Caps
from strictwire.fault.dialects.mcp import TOOL_DIALECTS
from strictwire.fault.failure_code import FailureCode
from strictwire.fault.raised import ToolError
from strictwire.pipeline.stages import TIERS
from strictwire.profiles.mcp.task_store import MAX_RESULT_BYTES
from strictwire.server.declare.refused import Place

CAPABILITIES: Final = ("elicitation", "sampling", "roots")
"""The client capabilities that a tool can need."""


class ToolOptions(TypedDict, total=False):
    """The options of a tool. All are optional."""

    name: str | None
    """The name that clients call. Default: the name of the function."""
    title: str | None
    """A name for people."""
    description: str | None
    """What the tool does, for the model. Default: the first paragraph of the docstring."""
    safety: Safety | str | None
    """The effects of a call: `read-only`, `mutating` or `destructive`. Default: derived from the annotations."""
    annotations: Mapping[str, JsonValue]
    """The hints of MCP, such as `readOnlyHint`. Default: derived from `safety`."""
    roles: Sequence[str]
    """The roles that may call it. Default: all."""
    tier: str
    """The lowest tier of a caller that may call it. Default: `core`."""
    category: str
    """A group of tools in `editor/0.1` and in the documentation. Default: `general`."""
    tags: Collection[str]
    """Words that group it, for `include_tags` and `exclude_tags` of a server. Default: none."""
    needs: Sequence[str]
    """The capabilities that the client must have: `elicitation`, `sampling`, `roots`. Default: none."""
    caps: Caps | None
    """Limits of time, response size and concurrency."""
    task: str | TaskPolicy
    """Whether calls become tasks: `never`, `optional` or `required`, or a `TaskPolicy` with its limits. Default: `never`."""
    dialect: str
    """The format of its failures: `mcp`, `mcp/v1`, `resolve/v0` or `system/1.0`. Default: `mcp`."""
    raises: Sequence[type[ToolError]]
    """The failures that it raises, for its documentation."""
    text_json: bool
    """Whether structured content is repeated as JSON text, for clients that read only text. Default: True."""
    input_schema: JsonObject | None
    """A schema of your own. The function then takes the arguments as one dict."""
    output_schema: JsonObject | None
    """A schema of your own for the structured content."""
    meta: Mapping[str, JsonValue]
    """The `_meta` of the tool in `tools/list`."""


def check_options(options: Mapping[str, Any], place: Place) -> None:
    """Check the names of the options and the values that come from a list. Raises DeclarationRefused."""
    for option in options:
        if option not in ToolOptions.__annotations__:
            raise place.refuse(f"@server.tool has no option {option!r}; {_suggest(option, ToolOptions.__annotations__)}")
    for option, known in (("dialect", TOOL_DIALECTS), ("tier", TIERS), ("needs", CAPABILITIES)):
        value = options.get(option, ())
        for each in [value] if isinstance(value, str) else value:
            if each not in known:
                raise place.refuse(f"{option}={each!r} is unknown; {_suggest(each, known)}")
    _check_caps(options.get("caps"), place)


def _check_caps(caps: Any, place: Place) -> None:
    if caps is None:
        return
    if not isinstance(caps, Caps):
        raise place.refuse(f"caps={caps!r} is no Caps; write caps=Caps(timeout_ms=2_000)")
    for name in ("timeout_ms", "response_bytes", "concurrency"):
        value = getattr(caps, name)
        if type(value) is not int or value <= 0:
            raise place.refuse(f"caps has {name}={value!r}; use a whole number above 0")


TASKS: Final[Mapping[str, TaskPolicy | None]] = MappingProxyType(
    {"never": None, "optional": TaskPolicy(), "required": TaskPolicy(required=True)}
)
"""The short forms of the option `task`."""


def task_of(options: Mapping[str, Any], place: Place) -> TaskPolicy | None:
    """How calls become tasks. Raises DeclarationRefused."""
    given = options.get("task", "never")
    if isinstance(given, TaskPolicy):
        _check_policy(given, place)
        return given
    if not isinstance(given, str) or given not in TASKS:
        advice = _suggest(given, TASKS)
        raise place.refuse(f"task={given!r} is unknown; {advice}" + ("" if "?" in advice else ", or a TaskPolicy"))
    return TASKS[given]


def _check_policy(policy: TaskPolicy, place: Place) -> None:
    for name in ("timeout_ms", "keep_ms", "result_bytes", "poll_ms"):
        if getattr(policy, name) <= 0:
            raise place.refuse(f"task has {name}={getattr(policy, name)}; use a number above 0")
    if policy.kept_bytes > MAX_RESULT_BYTES:
        raise place.refuse(f"task has result_bytes={policy.result_bytes}; use at most {MAX_RESULT_BYTES // RENDERED}")
    if policy.start not in ("call", "handler"):
        raise place.refuse(f"task has start={policy.start!r}; use 'call' or 'handler'")


def failures_of(options: Mapping[str, Any], place: Place) -> tuple[FailureCode, ...]:
    """The documented failures. Raises DeclarationRefused."""
    classes = options.get("raises", ())
    for each in classes:
        if not (isinstance(each, type) and issubclass(each, ToolError)):
            raise place.refuse(f"raises has {each!r}, which is no subclass of ToolError; use NotFound, Conflict or your own")
    return tuple(each.described for each in classes)


def _suggest(given: object, known: Collection[str]) -> str:
    near = difflib.get_close_matches(str(given), known, n=1)
    return f"did you mean {near[0]!r}?" if near else f"use one of {', '.join(known)}"


def tags_of(given: Any, place: Place) -> frozenset[str]:
    """The tags of a tool, resource or prompt. Raises DeclarationRefused."""
    try:
        return check_tags(given)
    except TagsRefused as exc:
        raise place.refuse(str(exc)) from exc


def safety_of_options(options: Mapping[str, Any], place: Place) -> tuple[Safety, Mapping[str, JsonValue]]:
    """The safety level and the annotations. Raises DeclarationRefused."""
    try:
        return declare_safety(options.get("safety"), options.get("annotations", EMPTY))
    except SafetyRefused as exc:
        raise place.refuse(str(exc)) from exc

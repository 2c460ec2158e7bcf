"""The configuration files of MCP clients: where they are, and which servers they name. Pure.

`gateway.install` rewrites them; `sources` reads the tools of their servers. Names that a client expands, such as
`${env:TOKEN}`, are expanded from an environment that the caller passes.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

from strictwire.canon.json import JsonObject, NotStrict, parse_object


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientFile:
    """Where a client keeps its servers."""

    member: str
    """The member of the file that holds the servers."""
    paths: Mapping[str, str]
    """`sys.platform` to path; `linux` applies to every platform without an entry. `~` is the home folder."""


def _client(linux: str, darwin: str = "", win32: str = "", member: str = "mcpServers") -> ClientFile:
    paths = {"linux": linux, "darwin": darwin or linux, "win32": win32 or linux}
    return ClientFile(member=member, paths=MappingProxyType(paths))


CLIENTS: Final[Mapping[str, ClientFile]] = MappingProxyType(
    {
        "claude-desktop": _client(
            "~/.config/Claude/claude_desktop_config.json",
            "~/Library/Application Support/Claude/claude_desktop_config.json",
            "~/AppData/Roaming/Claude/claude_desktop_config.json",
        ),
        "claude-code": _client("~/.claude.json"),
        "cursor": _client("~/.cursor/mcp.json"),
        "vscode": _client(
            "~/.config/Code/User/mcp.json",
            "~/Library/Application Support/Code/User/mcp.json",
            "~/AppData/Roaming/Code/User/mcp.json",
            member="servers",
        ),
        "codex": _client("~/.codex/config.toml", member="mcp_servers"),
        "windsurf": _client("~/.codeium/windsurf/mcp_config.json"),
        "gemini": _client("~/.gemini/settings.json"),
    }
)
"""Supported clients by name."""


class ConfigRefused(ValueError):
    """A configuration that cannot be read or changed safely. The message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfiguredServer:
    """One server of a configuration: a command or a URL, or the reason why it cannot be started."""

    name: str
    command: tuple[str, ...] = ()
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str | None = None
    refusal: str = ""


def read_config(raw: bytes, *, toml: bool) -> JsonObject:
    """Parse a configuration. Raises ConfigRefused."""
    return _read_toml(raw) if toml else _read_json(raw)


def _read_json(raw: bytes) -> JsonObject:
    try:
        return parse_object(raw)
    except NotStrict as exc:
        raise ConfigRefused(f"{exc}; a file with comments must be edited by hand") from exc


def _read_toml(raw: bytes) -> JsonObject:
    try:
        return tomllib.loads(raw.decode())
    except (ValueError, RecursionError) as exc:  # also an integer of 5,000 digits, and brackets without end
        raise ConfigRefused("the file is not TOML in UTF-8") from exc


def read_servers(raw: bytes, *, toml: bool, environment: Mapping[str, str]) -> tuple[ConfiguredServer, ...]:
    """The servers of a configuration of any known client, without disabled ones. Raises ConfigRefused.

    JSON may have comments and trailing commas: some clients accept them. A definition that several projects of Claude Code
    share is returned once.
    """
    config = read_config(raw if toml else _without_comments(raw), toml=toml)
    tables = list(_tables(config))
    if not tables:
        raise ConfigRefused("no servers found: expected a member mcpServers, servers or mcp_servers")
    found: dict[tuple[str, str], ConfiguredServer] = {}
    for prefix, table in tables:
        for name, entry in table.items():
            if isinstance(entry, dict) and not entry.get("disabled") and entry.get("enabled", True):
                server = _server(prefix + name, entry, environment)
                found.setdefault((name, repr(entry)), server)
    return tuple(found.values())


def has_servers(config: JsonObject) -> bool:
    """Whether a JSON object is the configuration of a client."""
    return any(isinstance(entry, dict) and _is_entry(entry) for _, table in _tables(config) for entry in table.values())


def _is_entry(entry: JsonObject) -> bool:
    return "command" in entry or any(name in entry for name in _URLS)


MEMBERS: Final = ("mcpServers", "servers", "mcp_servers")
"""Members that hold the servers, of all clients."""

_URLS: Final = ("url", "httpUrl", "serverUrl")
"""Members of an entry that hold the address of a running server, of all clients."""


def _tables(config: JsonObject) -> Iterator[tuple[str, JsonObject]]:
    """Each table of servers with a prefix for their names: also `mcp.servers`, and those of each project."""
    scopes: list[tuple[str, Any]] = [("", config), ("", config.get("mcp"))]
    projects = config.get("projects")
    if isinstance(projects, dict):
        scopes += [(f"{path}:", project) for path, project in projects.items()]
    for prefix, scope in scopes:
        for member in MEMBERS if isinstance(scope, dict) else ():
            if isinstance(scope.get(member), dict):
                yield prefix, scope[member]


def _server(name: str, entry: JsonObject, environment: Mapping[str, str]) -> ConfiguredServer:
    try:
        return _read_entry(name, _expand(entry, environment), environment)
    except ConfigRefused as exc:
        return ConfiguredServer(name=name, refusal=str(exc))


def _read_entry(name: str, entry: Any, environment: Mapping[str, str]) -> ConfiguredServer:
    url = next((entry[each] for each in _URLS if isinstance(entry.get(each), str)), "")
    if url:
        headers = {**_strings(entry, "headers"), **_strings(entry, "http_headers")}
        headers |= {key: _variable(environment, value) for key, value in _strings(entry, "env_http_headers").items()}
        if isinstance(entry.get("bearer_token_env_var"), str):
            headers["Authorization"] = f"Bearer {_variable(environment, entry['bearer_token_env_var'])}"
        return ConfiguredServer(name=name, url=url, headers=headers)
    command, arguments = entry.get("command"), entry.get("args", [])
    if not isinstance(command, str) or not isinstance(arguments, list) or not all(isinstance(a, str) for a in arguments):
        raise ConfigRefused("the entry has neither a command with a list of args nor a url")
    cwd = entry.get("cwd")
    return ConfiguredServer(
        name=name, command=(command, *arguments), env=_strings(entry, "env"), cwd=cwd if isinstance(cwd, str) else None
    )


def _strings(entry: JsonObject, member: str) -> dict[str, str]:
    table = entry.get(member) or {}
    if not isinstance(table, dict) or not all(isinstance(value, str) for value in table.values()):
        raise ConfigRefused(f"{member!r} is not a table of strings")
    return table


_PLACEHOLDER: Final = re.compile(
    r"\$\{(?:env:)?(?P<name>[^}:{]{1,256})(?::-(?P<default>[^}]{0,4096}))?\}|\$\{(?P<other>[^}{]{1,256})\}"
)
"""`${NAME}`, `${env:NAME}` and `${NAME:-default}`; anything else, such as `${input:token}`, only the client knows."""


def _expand(value: Any, environment: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return _PLACEHOLDER.sub(lambda found: _replacement(found, environment), value)
    if isinstance(value, dict):
        return {name: _expand(member, environment) for name, member in value.items()}
    return [_expand(member, environment) for member in value] if isinstance(value, list) else value


def _replacement(found: re.Match[str], environment: Mapping[str, str]) -> str:
    if found["other"]:
        raise ConfigRefused(f"only the client can expand {found[0]}")
    if found["default"] is not None:
        return environment.get(found["name"], found["default"])
    return _variable(environment, found["name"])


def _variable(environment: Mapping[str, str], name: str) -> str:
    if name == "userHome":
        name = "HOME"
    if name not in environment:
        raise ConfigRefused(f"the environment variable {name} is not set")
    return environment[name]


_STRING: Final = rb'"(?:\\.|\\\Z|[^"\\])*+(?:"|\Z)'
"""A string, also one that never ends: otherwise a search would begin again at each of its quotes."""
_COMMENTS: Final = re.compile(_STRING + rb"|//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_LAST_COMMAS: Final = re.compile(_STRING + rb"|,(?=\s*[}\]])", re.DOTALL)
"""Strings, which stay as they are, and what is removed. An open comment runs to the end, or each would be scanned again."""


def _without_comments(raw: bytes) -> bytes:
    """JSON without comments and commas before a closing bracket, which VS Code accepts in its files."""
    return _LAST_COMMAS.sub(_keep_string, _COMMENTS.sub(_keep_string, raw))


def _keep_string(found: re.Match[bytes]) -> bytes:
    return found[0] if found[0].startswith(b'"') else b""

"""Finds and opens packs, checks that every tool has a handler, and adds the tools to the server."""

from __future__ import annotations

import difflib
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from strictwire.audit.view import TrailView
from strictwire.contract.handler import Handler
from strictwire.contract.registry import ContractRefused
from strictwire.contract.schema import SchemaRefused
from strictwire.contract.tool import ToolContract
from strictwire.packs.pack import ENTRY_POINTS, LOCAL, Environment, Pack, PackRefused
from strictwire.server.served import Served
from strictwire.server.system_user import system_user
from strictwire.sources.shipped import SHIPPED_SCHEMAS, load_contract


def find_pack(name: str) -> Pack:
    """Load a pack by the name of its entry point. Raises PackRefused: it is not installed or cannot be loaded."""
    known = {each.name: each for each in entry_points(group=ENTRY_POINTS)}
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"installed: {', '.join(sorted(known)) or 'none'}"
        raise PackRefused(name, f"not installed; {hint}")
    try:
        made: Pack = known[name].load()()
    except (ImportError, AttributeError, TypeError) as exc:
        raise PackRefused(name, f"cannot be loaded ({type(exc).__name__}: {exc})") from exc
    return made


@asynccontextmanager
async def open_packs(
    server: Served,
    names: Sequence[str],
    settings: Mapping[str, Mapping[str, Any]],
    state: Path | None = None,
    *,
    trail: TrailView | None = None,
    private: tuple[Path, ...] = (),
    alone: bool = True,
) -> AsyncIterator[None]:
    """Open packs and add their tools to the server; close the packs at the end. Raises PackRefused; all are closed then."""
    local = frozenset({LOCAL, system_user()})
    async with AsyncExitStack() as stack:
        for name in names:
            pack = find_pack(name)
            contracts = read_contracts(pack)
            stack.push_async_callback(pack.close)
            environment = Environment(
                settings=settings.get(name, {}),
                state=state,
                trail=trail,
                private=private,
                local=local,
                variables=dict(os.environ),
                alone=alone,
                contracts=tuple(contracts),
                offer=server.add_tool,
                instruct=server.add_instructions,
                describe_editor=server.describe_editor,
            )
            handlers = await pack.open(environment)
            # The settings of a pack may choose its tools, so the names are read again once it is open.
            if pack.tools != tuple(contract.name for contract in contracts):
                contracts = read_contracts(pack)
            _offer(server, pack, contracts, handlers)
        yield


def check_workers(names: Sequence[str]) -> None:
    """Refuse packs that several processes cannot serve together, before anything listens. Raises PackRefused."""
    for name in names:
        reason = getattr(find_pack(name), "one_process", None)
        if reason is not None:
            raise PackRefused(name, reason)


def read_contracts(pack: Pack) -> list[ToolContract]:
    """Read the contracts of a pack from its schema files. Raises PackRefused."""
    root = pack.schemas or SHIPPED_SCHEMAS
    try:
        return [load_contract(root, name) for name in pack.tools]
    except (ContractRefused, SchemaRefused) as exc:
        raise PackRefused(pack.name, str(exc)) from exc


def _offer(server: Served, pack: Pack, contracts: list[ToolContract], handlers: Mapping[str, Handler]) -> None:
    missing = sorted({contract.name for contract in contracts} - handlers.keys())
    extra = sorted(handlers.keys() - {contract.name for contract in contracts})
    if missing or extra:
        raise PackRefused(pack.name, f"tools without a handler: {missing}; handlers without a tool: {extra}")
    try:
        for contract in contracts:
            server.add_tool(contract, handlers[contract.name])
    except (ContractRefused, SchemaRefused) as exc:
        raise PackRefused(pack.name, str(exc)) from exc

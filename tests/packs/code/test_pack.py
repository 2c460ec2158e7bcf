"""The pack: its entry point, its settings, and what it promises once it is open."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest
from tests.packs.code.real import VARIABLES

from strictwire.packs.code.catalogue import CODE_TOOLS, DROP_IN_TOOLS
from strictwire.packs.code.pack import CodePack
from strictwire.packs.pack import ENTRY_POINTS, Environment, PackRefused


def opened(settings: dict[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The promised tools and the handlers, in their order."""

    async def main() -> tuple[tuple[str, ...], tuple[str, ...]]:
        pack = CodePack()
        try:
            handlers = await pack.open(Environment(settings=settings, variables=VARIABLES))
            return pack.tools, tuple(handlers)
        finally:
            await pack.close()

    return asyncio.run(main())


def test_the_pack_is_found_by_its_entry_point() -> None:
    (found,) = entry_points(group=ENTRY_POINTS, name="code")

    assert isinstance(found.load()(), CodePack)


@pytest.mark.parametrize(("drop_in", "tools"), [(False, CODE_TOOLS), (True, DROP_IN_TOOLS)])
def test_the_setting_drop_in_chooses_the_tools(tmp_path: Path, drop_in: bool, tools: tuple[str, ...]) -> None:
    assert opened({"roots": [str(tmp_path)], "drop_in": drop_in, "warm": False}) == (tools, tools)


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"timeout_seconds": 0}, "timeout_seconds: expected a number from 0.25 to 600"),
        ({"drop_in": 1}, "drop_in: expected true or false"),
        ({"roots": ["/no/such/folder"]}, "roots: '/no/such/folder' is not a folder"),
        ({"roots": "x"}, "roots: expected a list of folders"),
        ({"timeout_second": 5}, "timeout_second: no such setting"),
    ],
)
def test_a_setting_that_cannot_be_used_refuses_the_pack_with_what_is_expected(settings: dict[str, Any], reason: str) -> None:
    with pytest.raises(PackRefused, match=reason):
        opened(settings)


def test_several_processes_behind_one_address_are_refused() -> None:
    with pytest.raises(PackRefused, match="serve it with `workers = 1`"):
        asyncio.run(CodePack().open(Environment(alone=False)))


def test_closing_a_pack_that_was_never_opened_does_nothing() -> None:
    asyncio.run(CodePack().close())


@pytest.mark.parametrize("module", ["re2", "pathspec", "tree_sitter_go"])
def test_without_the_extra_the_pack_says_what_to_install(module: str) -> None:
    """In a process of its own: modules that are imported stay imported."""
    script = f"""
import asyncio, sys
sys.modules[{module!r}] = None
from strictwire.packs.code.pack import CodePack
from strictwire.packs.pack import Environment, PackRefused
try:
    asyncio.run(CodePack().open(Environment()))
except PackRefused as exc:
    print(exc.reason)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert done.stdout == f"{module} is not installed: pip install 'strictwire[code]'\n"

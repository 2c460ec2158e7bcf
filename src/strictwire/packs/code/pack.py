"""The code pack: read-only code navigation on real language servers.

Settings are those of `limits.ToolSettings` and of `open.CodeOptions`, in one table; docs/CODE.md lists them.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

from strictwire.contract.handler import Handler
from strictwire.packs.code.catalogue import CODE_TOOLS, DROP_IN_TOOLS, handlers_of
from strictwire.packs.code.limits import split_settings
from strictwire.packs.code.service import Service
from strictwire.packs.kit.grammars import find_missing
from strictwire.packs.pack import Environment, PackRefused

INSTALL: Final = "pip install 'strictwire[code]'"
"""The command that installs what the pack needs besides engines."""


class CodePack:
    """See packs.pack.Pack."""

    name: Final = "code"
    schemas: Path | None = None
    one_process: Final = "its pages and engines live in one process; serve it with `workers = 1`"

    def __init__(self) -> None:
        self._drop_in = False
        self._stack = AsyncExitStack()

    @property
    def tools(self) -> tuple[str, ...]:
        """See Pack."""
        return DROP_IN_TOOLS if self._drop_in else CODE_TOOLS

    async def open(self, environment: Environment) -> Mapping[str, Handler]:
        """See Pack. Raises PackRefused: the extra is not installed, a setting cannot be used, there are several workers."""
        if not environment.alone:
            raise PackRefused(self.name, self.one_process)
        try:
            from strictwire.packs.code.open import open_codebase, read_options
        except ImportError as exc:
            raise PackRefused(self.name, f"{exc.name} is not installed: {INSTALL}") from exc
        if (missing := find_missing()) is not None:
            raise PackRefused(self.name, f"{missing} is not installed: {INSTALL}")
        try:
            settings, rest = split_settings(environment.settings)
            options = read_options(rest, environment.variables)
        except ValueError as exc:
            raise PackRefused(self.name, str(exc)) from exc
        self._drop_in = settings.drop_in
        code = await self._stack.enter_async_context(open_codebase(options))
        service = Service(code, settings, clock=time.monotonic)
        self._stack.push_async_callback(service.close)
        return handlers_of(service)

    async def close(self) -> None:
        """See Pack."""
        await self._stack.aclose()

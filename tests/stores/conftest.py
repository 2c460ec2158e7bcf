"""Tests that are coroutines run on an event loop of their own; a trail that many tests read."""

from __future__ import annotations

import asyncio
import inspect
from pathlib import Path

import pytest

from strictwire.audit.event import render_body
from strictwire.stores.files.config import TrailConfig, open_writer

from .trails import call, hour_of, trail_in


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = inspect.signature(pyfuncitem.obj).parameters
    asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True


@pytest.fixture(params=[1 << 40, 1_500], ids=["one file", "several files"])
def trail(request: pytest.FixtureRequest, tmp_path: Path) -> TrailConfig:
    """Twenty calls, one per hour, with a checkpoint after every five."""
    trail = trail_in(tmp_path, rotate_bytes=request.param)
    log = open_writer(trail)
    for number in range(20):
        who = "alice" if number % 2 else "bob"
        event = call(f"call {number}", hour_of(number), principal=who, tool_name=f"tool{number % 3}")
        log.append([render_body(event)])
        if number % 5 == 4:
            log.sign()
    log.close()
    return trail

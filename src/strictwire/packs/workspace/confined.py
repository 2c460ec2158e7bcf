"""Starts a confined program from the server and waits for it. `confine` is the program that does the confining."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import IO, Final

from strictwire.canon.json import JsonObject, parse_object
from strictwire.packs.workspace.confine import order as confine_order
from strictwire.packs.workspace.confine.order import Order

_PROGRAM: Final = Path(confine_order.__file__).with_name("__main__.py")

_MAX_STATUS: Final = 4096
"""Bytes of the status, which is less than a pipe holds: it can be read after the end."""


_REMEDIES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "Linux": "Use Linux, or a plan without verification commands",
        "namespaces": "Permit user namespaces: sysctl kernel.unprivileged_userns_clone=1 (Debian), user.max_user_namespaces "
        "above 0, kernel.apparmor_restrict_unprivileged_userns=0 (Ubuntu); in Docker a seccomp profile that permits unshare",
        "mounts": "Permit mounts in user namespaces: kernel.apparmor_restrict_unprivileged_userns=0 (Ubuntu); in a "
        "container an unmasked /proc (docker run --security-opt systempaths=unconfined) and a seccomp profile that permits "
        "mount",
        "landlock": "Use Linux 5.13 or newer with landlock in the boot option lsm=",
        "seccomp": "Use x86-64 or ARM64, and a kernel with CONFIG_SECCOMP_FILTER",
    }
)
"""Missing measure to what a person can do about it."""

_OTHER_REMEDY: Final = "Run the server where Linux namespaces, Landlock and seccomp are available"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a program ended."""

    exit_code: int | None
    """None if it exceeded its time limit."""
    stopped: JsonObject | None = None
    """Why it was not started, or was stopped: `reason` is unconfined (`missing` names the measure), root_changed, memory,
    processes."""


def run_confined(order: Order, *, environment: Mapping[str, str], output: IO[bytes], seconds: float) -> Ended:
    """Run a program to its end; its output goes to a file. Afterwards none of its processes is left. Raises OSError."""
    if sys.platform != "linux":
        return Ended(exit_code=None, stopped={"reason": "unconfined", "missing": "Linux"})
    reader, writer = os.pipe()
    with os.fdopen(reader, "rb") as status:
        try:
            process = subprocess.Popen(
                # -I -S: nothing is imported from the workspace, nor from the environment of the server.
                [sys.executable, "-I", "-S", str(_PROGRAM), str(writer)],
                env=dict(environment),
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                pass_fds=(writer,),
            )
        finally:
            os.close(writer)
        exit_code = _wait(process, order.render(), seconds)
        raw = status.read(_MAX_STATUS)
    return Ended(exit_code=exit_code, stopped=parse_object(raw) if raw else None)


def _wait(process: subprocess.Popen[bytes], order: bytes, seconds: float) -> int | None:
    """Return the exit code; None if the time limit was exceeded. In both cases its whole process group is killed."""
    try:
        process.communicate(order, timeout=seconds)
    except subprocess.TimeoutExpired:
        return None
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return process.returncode


def remedy(missing: str) -> str:
    """Return what a person can do about a missing measure."""
    return _REMEDIES.get(missing, _OTHER_REMEDY)


def find_missing_measure() -> str | None:
    """Return the name of a measure that this system does not permit; None if programs can be confined."""
    with tempfile.TemporaryDirectory(prefix="strictwire-") as folder, tempfile.TemporaryFile() as output:
        order = Order(
            program=(sys.executable, "-I", "-S", "-c", ""),
            writable=(confine_order.folder_at(folder),),
            processes=64,
            memory=1 << 30,
        )
        ended = run_confined(order, environment={}, output=output, seconds=60.0)
    if ended.stopped is not None:
        return str(ended.stopped["missing"])
    return None if ended.exit_code == 0 else f"exit code {ended.exit_code}"

"""Runs the verification commands of a plan: no shell, limits on time, output, processes and memory, confined by the kernel.

Only programs that the settings list are started, whatever a plan says. They run in the workspace with a minimal environment
and no input, started through `confined`. Protected files are read-only for them; what is protected is compared before and
after. Where the kernel cannot confine a command, it is not run, and the change is refused.
"""

from __future__ import annotations

import os
import re
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from itertools import islice
from types import MappingProxyType
from typing import IO, Final, Protocol

from strictwire.canon.json import JsonObject
from strictwire.fault.failure import Refused
from strictwire.packs.kit.jail import Jail
from strictwire.packs.kit.path import parse_path
from strictwire.packs.kit.text import cut_characters
from strictwire.packs.workspace.confine.order import Folder, Order, folder_at
from strictwire.packs.workspace.confined import Ended, remedy, run_confined
from strictwire.packs.workspace.file_operations import make_folders
from strictwire.packs.workspace.plans.model import Command
from strictwire.packs.workspace.programs import Programs
from strictwire.packs.workspace.protected_paths import RESERVED, is_own_name
from strictwire.packs.workspace.protection import Protected, Protection, set_aside
from strictwire.packs.workspace.refusal import refuse, with_cause

SECONDS: Final = 120.0
"""Time limit for all commands of one change. The tool's own time limit is higher, so that a change is verified or undone
before the client gets its answer."""

MAX_OUTPUT: Final = 64 * 1024 * 1024
"""Most bytes a command may write to its output or to any one file; the kernel ends it beyond that."""

MAX_MEMORY: Final = 4 * 1024**3
"""Memory limit of one process (RLIMIT_DATA). Compilers need a few hundred megabytes; a leak must not exhaust the machine."""

LIMITS: Final[Mapping[str, int]] = MappingProxyType({"CORE": 0, "FSIZE": MAX_OUTPUT, "DATA": MAX_MEMORY, "NOFILE": 4096})
"""Resource limits of each process of a command, by name."""

PROCESSES: Final = 2048
"""Most processes and threads of a command at once: a parallel build on a large machine, but no fork bomb."""

_MEMORY_SHARE: Final = 0.75
"""Part of the memory of the machine that the processes of a command may use together."""

_MAX_PATHS: Final = 20
"""Protected paths that a failure names."""

_MAX_SHOWN: Final = 2000
"""Characters of output in a failure, from the end of the output."""

TRIAL_SECONDS: Final = 5.0
"""Time limit of one command in a trial. A command that still runs then has started."""

TRIALS_SECONDS: Final = 30.0
"""Time limit of all commands in a trial."""

_STOPPED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "unconfined": "This system cannot confine verification commands, so none was run and the change was undone",
        "root_changed": "The workspace root was moved or replaced; begin a new session",
        "memory": "The verification command used too much memory and was stopped; the change was undone",
        "processes": "The verification command started too many processes and was stopped; the change was undone",
    }
)
"""Reason why a command was not started or was stopped, to the message."""


class VerifiedFolder(Protocol):
    """The workspace that commands run in: a session."""

    @property
    def root(self) -> str:
        """Absolute path with links resolved."""

    @property
    def identity(self) -> tuple[int, int]:
        """Device and inode of the folder."""

    @property
    def own(self) -> Jail:
        """The jail on this folder for strictwire's own files."""

    @property
    def protection(self) -> Protection:
        """Which files a command must not change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preflight:
    """Runs verification commands."""

    programs: Programs
    hidden: tuple[str, ...] = ()
    """Folders that a command must not even read: keys and logs."""
    seconds: float = SECONDS
    limits: Mapping[str, int] = field(default_factory=lambda: LIMITS)
    processes: int = PROCESSES
    clock: Callable[[], float] = time.monotonic

    def check(self, commands: tuple[Command, ...], *, folder: VerifiedFolder) -> list[JsonObject]:
        """Run the commands in order and report each. Raises Refused: PREFLIGHT_FAILED for the first that fails, and if a
        command has changed a protected file."""
        if not commands:
            return []
        until = self.clock() + self.seconds
        for reserved in RESERVED:
            make_folders(folder.own, parse_path("/".join((*reserved, "x"))))
        before = folder.protection.scan()
        try:
            return [self._run(command, folder, before, until) for command in commands]
        except OSError as exc:
            raise refuse("PREFLIGHT_FAILED", _NOT_STARTED, "not_started") from exc
        finally:
            # Also if a command failed: it may have planted something before.
            _check_unchanged(folder, before)

    def try_start(self, commands: Iterable[Command], *, folder: VerifiedFolder) -> Iterator[Refused]:
        """Start the program of each command once, with the workspace read-only, and yield why it cannot start.

        Nobody has approved the commands yet, so their arguments are not used: the program is asked for its version, and how
        it ends does not matter."""
        until = self.clock() + TRIALS_SECONDS
        tried: dict[Command, Refused | None] = {}
        for command in dict.fromkeys(commands):
            trial = _version_command(command)
            if trial not in tried:
                tried[trial] = self._find_start_problem(trial, folder, min(TRIAL_SECONDS, until - self.clock()))
            problem = tried[trial]
            if problem is not None:
                yield Refused(with_cause(problem.failure, command=list(command)))

    def _find_start_problem(self, command: Command, folder: VerifiedFolder, seconds: float) -> Refused | None:
        try:
            ended, output = self._start(command, folder, seconds=max(0.0, seconds))
        except Refused as exc:
            return exc
        except OSError:
            return refuse("PREFLIGHT_FAILED", _NOT_STARTED, "not_started", command=list(command))
        if ended.stopped is not None and ended.stopped["reason"] in _STOPPED:
            return _failure(command, ended, output)
        missing = _find_missing_module(command, output) if ended.exit_code else None
        if missing is not None:
            text = f"{command[0]!r} starts, but has no module {missing!r}. Install it there, or set `virtual_environment`"
            return refuse("PREFLIGHT_FAILED", text, "module_missing", command=list(command))
        if ended.exit_code == _CANNOT_EXECUTE:
            return refuse("PREFLIGHT_FAILED", _NOT_STARTED, "not_started", command=list(command))
        return None

    def _run(self, command: Command, folder: VerifiedFolder, protected: Protected, until: float) -> JsonObject:
        ended, output = self._start(command, folder, protected=protected, seconds=max(0.0, until - self.clock()))
        if ended == Ended(exit_code=0):
            return {"command": list(command), "exit_code": 0}
        raise _failure(command, ended, output)

    def _start(
        self, command: Command, folder: VerifiedFolder, *, seconds: float, protected: Protected | None = None
    ) -> tuple[Ended, str]:
        """Run a command to its end, or to the time limit; return how it ended, and its output. Without `protected`, the
        workspace is read-only. Raises Refused: PREFLIGHT_FAILED if the program is not allowed or not found; OSError."""
        problem = self.programs.find_problem(command[0], folder.root)
        program = self.programs.maybe_find(command[0], folder.root)
        if problem is not None or program is None:
            reason, text = problem or ("not_found", "The program was removed")
            raise refuse("PREFLIGHT_FAILED", text, reason, command=list(command), allowed=sorted(self.programs.names))
        with tempfile.TemporaryDirectory(prefix="strictwire-") as home, tempfile.TemporaryFile() as output:
            root, own = Folder(path=folder.root, identity=folder.identity), folder_at(os.path.realpath(home))
            order = Order(
                program=(program, *command[1:]),
                writable=(own,) if protected is None else (root, own),
                directory=root if protected is None else None,
                hidden=self.hidden,
                pinned=() if protected is None else protected.pins,
                limits=dict(self.limits),
                processes=self.processes,
                memory=int(_MEMORY_SHARE * os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")),
            )
            environment = self.programs.environment(folder.root, home)
            return run_confined(order, environment=environment, output=output, seconds=seconds), _tail(output)


_NOT_STARTED: Final = "A verification command could not be started"

_PYTHON: Final = re.compile(r"(?:python|pypy)[0-9.]*t?")
"""Names of Python interpreters; the `t` is of free-threaded builds."""

_CANNOT_EXECUTE: Final = 126
"""Exit code if the system refuses to execute the program."""


def _version_command(command: Command) -> Command:
    """Return a command that only starts the program, or for `python -m` its module."""
    module = () if _module_of(command) is None else command[1:3]
    return command[0], *module, "--version"


def _module_of(command: Command) -> str | None:
    """Return the module of a `python -m` command. For other programs `-m` has another meaning, such as `git commit -m`."""
    is_module = len(command) > 2 and command[1] == "-m" and _PYTHON.fullmatch(os.path.basename(command[0]))
    return command[2] if is_module else None


def _find_missing_module(command: Command, output: str) -> str | None:
    """Return the module that a `python -m` command does not find; None if it is another failure."""
    module = _module_of(command)
    last = output.rstrip().rpartition("\n")[2]
    return module if module is not None and last.endswith(f"No module named {module.partition('.')[0]}") else None


def _failure(command: Command, ended: Ended, output: str) -> Refused:
    if ended.stopped is not None:
        reason = str(ended.stopped["reason"])
        missing = ended.stopped.get("missing")
        if missing is None:
            return refuse("PREFLIGHT_FAILED", _STOPPED[reason], reason, command=list(command))
        text = f"{_STOPPED[reason]}. {remedy(str(missing))}"
        return refuse("PREFLIGHT_FAILED", text, reason, command=list(command), missing=missing)
    reason = "timeout" if ended.exit_code is None else "exit_code"
    text = f"The verification command {command[0]!r} failed; the change was undone. cause.output is the end of its output"
    return refuse("PREFLIGHT_FAILED", text, reason, command=list(command), exit_code=ended.exit_code, output=output)


def _check_unchanged(folder: VerifiedFolder, before: Protected) -> None:
    """Raises Refused: PREFLIGHT_FAILED if protected paths were created or changed since. What was created is renamed, so
    that neither git nor strictwire uses it; a person can still look at it."""
    after = folder.protection.scan()
    changed = sorted(path for path, mark in before.marks.items() if after.marks.get(path) != mark)
    # Only names that are protected anywhere: a new `.git` turns the folder `docs/plans` beside it into a protected one.
    created = sorted(path for path in after.marks.keys() - before.marks.keys() if is_own_name(os.path.basename(path)))
    if not changed and not created:
        return
    with closing(folder.own.enter(".")) as root:
        renamed = {ascii(path)[1:-1]: set_aside(root.descriptor, path) for path in created}
    text = "A verification command changed protected files; the change was undone, and what it created was renamed"
    shown = [ascii(path)[1:-1] for path in changed[:_MAX_PATHS]]
    raise refuse("PREFLIGHT_FAILED", text, "protected", changed=shown, renamed=dict(islice(renamed.items(), _MAX_PATHS)))


def _tail(output: IO[bytes]) -> str:
    size = output.seek(0, os.SEEK_END)
    output.seek(max(0, size - 4 * _MAX_SHOWN))
    return cut_characters(output.read().decode("utf-8", "replace")[-_MAX_SHOWN:], _MAX_SHOWN).text

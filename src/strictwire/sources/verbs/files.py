"""The commands that write files from contracts: `freeze`, `bundle` and `docs`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from strictwire.canon.json import JsonObject, render
from strictwire.check.render.reference import render_reference, render_reference_html
from strictwire.check.render.text import count
from strictwire.check.subject import ToolSet
from strictwire.contract.bundle import bundle
from strictwire.contract.document import render_contract
from strictwire.contract.registry import ContractRefused, check_name
from strictwire.contract.tool import ToolContract
from strictwire.sources.folder import CONTRACT, INPUT, OUTPUT
from strictwire.sources.refused import SourceRefused
from strictwire.sources.specifier import DEFAULT_SOURCE, NO_OPTIONS, LiveOptions, Sources, read_source
from strictwire.sources.verbs.result import CLEAN, VerbResult, verb
from strictwire.sources.whole_file import write_whole


def freeze_contracts(contracts: Iterable[ToolContract], folder: Path) -> tuple[Path, ...]:
    """Write the schema files of contracts. Returns the files that changed. Raises SourceRefused."""
    texts: dict[str, bytes] = {}
    for contract in contracts:
        _check_name(contract.name, folder)
        texts |= _files_of(contract)
    return _write_changed(folder, texts)


def _check_name(name: str, folder: Path) -> None:
    """Validate a tool name before it becomes a file name: a name from a server is untrusted input."""
    try:
        check_name(name)
    except ContractRefused as exc:
        raise SourceRefused(str(folder), str(exc)) from exc


def _files_of(contract: ToolContract) -> Mapping[str, bytes]:
    files = {contract.name + INPUT: _text(contract.input_schema)}
    if contract.output_schema is not None:
        files[contract.name + OUTPUT] = _text(contract.output_schema)
    files[contract.name + CONTRACT] = _text(render_contract(contract))
    return files


def _text(value: JsonObject) -> bytes:
    return msgspec.json.format(render(value), indent=2) + b"\n"


def _write_changed(folder: Path, texts: Mapping[str, bytes]) -> tuple[Path, ...]:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        changed = [name for name, raw in texts.items() if _maybe_read(folder / name) != raw]
    except OSError as exc:
        raise SourceRefused(str(folder), f"cannot write to the folder ({exc.strerror})") from exc
    for name in changed:
        write_whole(folder / name, texts[name])
    return tuple(folder / name for name in changed)


def _maybe_read(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


@dataclass(frozen=True, slots=True, kw_only=True)
class FreezeOptions:
    """The source of the contracts and the folder for the files."""

    source: Sources
    """A running server, a dump or a lock file. For code-first servers, the CLI calls `freeze_contracts`."""
    out: str = "schemas/tools"
    live: LiveOptions = NO_OPTIONS


@verb
def run_freeze(options: FreezeOptions) -> VerbResult:
    """Write the schema files of every tool of a source."""
    tools = _read_fully(options.source, options.live)
    written = freeze_contracts((each.contract for each in tools.subjects), Path(options.out))
    return VerbResult(
        exit_code=CLEAN, text=f"wrote {count(len(written), 'file')} for {count(len(tools.subjects), 'tool')}\n"
    )


def _read_fully(source: Sources, live: LiveOptions = NO_OPTIONS) -> ToolSet:
    """The tools of a source. Raises SourceRefused if any part cannot be read: partial output would look complete."""
    tools = read_source(source, live=live)
    if tools.read_problems:
        problem = tools.read_problems[0]
        raise SourceRefused(problem.origin.file or tools.label, f"{problem.message}; nothing was written")
    return tools


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleOptions:
    """The folder of schema files and the folder for the bundled files."""

    source: Sources = DEFAULT_SOURCE
    out: str = "build/schemas/tools"


@verb
def run_bundle(options: BundleOptions) -> VerbResult:
    """Write every schema of a folder as a self-contained file, with the definitions it references."""
    tools = _read_fully(options.source)
    texts: dict[str, bytes] = {}
    for subject in tools.subjects:
        for origin, schema in (
            (subject.input, subject.contract.input_schema),
            (subject.output, subject.contract.output_schema),
        ):
            if schema is not None:
                name = Path(origin.file).name
                texts[name] = _text(bundle(schema, file=name, documents=tools.documents))
        if subject.has_terms:
            texts[subject.contract.name + CONTRACT] = _text(render_contract(subject.contract))
    written = _write_changed(Path(options.out), texts)
    return VerbResult(exit_code=CLEAN, text=f"wrote {count(len(written), 'file')} to {options.out}\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class DocsOptions:
    """What to document. Without `out`, the page is the text of the result."""

    source: Sources = DEFAULT_SOURCE
    output_format: str = "markdown"
    """`markdown` or `html`."""
    title: str = "Tools"
    out: str | None = None
    live: LiveOptions = NO_OPTIONS


@verb
def run_docs(options: DocsOptions) -> VerbResult:
    """Render a reference page for the tools of a source."""
    tools = _read_fully(options.source, options.live)
    contracts = [each.contract for each in tools.subjects]
    pages = {"markdown": render_reference, "html": render_reference_html}
    page = pages[options.output_format](contracts, options.title)
    if options.out is None:
        return VerbResult(exit_code=CLEAN, text=page)
    write_whole(Path(options.out), page.encode())
    return VerbResult(exit_code=CLEAN, text=f"wrote {options.out}\n")

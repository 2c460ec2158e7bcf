"""A folder of schema files (G2).

schemas/tools/<tool>.json            what the tool takes
schemas/tools/<tool>.output.json     what it gives
schemas/tools/<tool>.contract.json   description, hints and terms
schemas/tools/<any>.schema.json      definitions that other files refer to, for `strictwire bundle`
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from strictwire.canon.json import MAX_BYTES, JsonObject, NotStrict, parse_object
from strictwire.check.subject import Origin, ReadProblem, SourceKind, Subject, ToolSet
from strictwire.contract.document import read_contract
from strictwire.contract.registry import ContractRefused
from strictwire.sources.dump import NOT_JSON, flaw_of
from strictwire.sources.entries import MALFORMED
from strictwire.sources.refused import SourceRefused

OUTPUT: Final = ".output.json"
CONTRACT: Final = ".contract.json"
SHARED: Final = ".schema.json"
INPUT: Final = ".json"


def read_folder(path: Path) -> ToolSet:
    """The tools of a folder that holds the files, or holds a folder `tools` that does. Raises SourceRefused."""
    folder = path / "tools" if (path / "tools").is_dir() else path
    try:
        files = sorted(each for each in folder.iterdir() if each.is_file())
        texts = {each.name: _read(each) for each in files}
    except OSError as exc:
        raise SourceRefused(str(path), f"cannot be read ({exc.strerror})") from exc
    return build_folder(texts, label=str(path), prefix=f"{folder}/")


def _read(path: Path) -> bytes | None:
    """The text, or None for one that is larger than any schema may be."""
    return path.read_bytes() if path.stat().st_size <= MAX_BYTES else None


def build_folder(texts: Mapping[str, bytes | None], *, label: str, prefix: str) -> ToolSet:
    """The tools of schema files by name. Raises SourceRefused: there are none."""
    work = _Folder(texts, prefix)
    names = [
        name.removesuffix(INPUT)
        for name in sorted(texts)
        if name.endswith(INPUT) and not name.endswith((OUTPUT, CONTRACT, SHARED))
    ]
    if not names:
        raise SourceRefused(label, "no schema files: expected <tool>.json in the folder or in its folder 'tools'")
    subjects = [subject for name in names if (subject := work.tool(name)) is not None]
    shared = {name: document for name in sorted(texts) if name.endswith(SHARED) and (document := work.document(name))}
    return ToolSet(
        label=label,
        subjects=tuple(subjects),
        source_kind=SourceKind.FOLDER,
        read_problems=tuple(work.read_problems),
        texts={prefix + name: raw for name, raw in texts.items() if raw is not None},
        files=tuple(prefix + name for name in sorted(texts)),
        documents=shared,
    )


class _Folder:
    """One reading: the texts, and what was wrong so far."""

    def __init__(self, texts: Mapping[str, bytes | None], prefix: str) -> None:
        self.texts = texts
        self.prefix = prefix
        self.read_problems: list[ReadProblem] = []

    def tool(self, name: str) -> Subject | None:
        """The tool, or None if one of its files cannot be read; the problem says which."""
        known = len(self.read_problems)
        given, gives = self.document(name + INPUT), self.document(name + OUTPUT)
        document = self.document(name + CONTRACT)
        if given is None or len(self.read_problems) > known:
            return None
        entry = Origin(self.prefix + name + (CONTRACT if document is not None else INPUT))
        try:
            contract = read_contract(name, input_schema=given, output_schema=gives, document=document or _described(given))
        except ContractRefused as exc:
            self.read_problems.append(ReadProblem(MALFORMED, entry, str(exc), 1, 1))
            return None
        return Subject(
            contract=contract,
            entry=entry,
            input=Origin(self.prefix + name + INPUT),
            output=Origin(self.prefix + name + OUTPUT),
            has_terms=document is not None,
        )

    def document(self, name: str) -> JsonObject | None:
        """The object in a file, or None: there is no such file, or it is flawed."""
        if name not in self.texts:
            return None
        raw = self.texts[name]
        if raw is None:
            problem = ReadProblem(NOT_JSON, Origin(self.prefix + name), f"the file is larger than {MAX_BYTES:,} bytes", 1, 1)
            self.read_problems.append(problem)
            return None
        try:
            return parse_object(raw)
        except NotStrict as exc:
            self.read_problems.append(flaw_of(exc, raw, self.prefix + name))
            return None


def _described(schema: JsonObject) -> JsonObject:
    """Without a contract file the root of the input schema says what the tool is."""
    text = schema.get("description")
    return {"description": text} if isinstance(text, str) else {}

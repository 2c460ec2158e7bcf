"""Reads a folder of schema files (clause G2).

schemas/tools/<tool>.json            input schema
schemas/tools/<tool>.output.json     output schema
schemas/tools/<tool>.contract.json   description, hints and terms
schemas/tools/<any>.schema.json      shared definitions that other files reference; see `strictwire bundle`
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from strictwire.canon.json import MAX_BYTES, JsonObject, NotStrict, parse_object
from strictwire.check.subject import ReadProblem, SourceKind, SourceLocation, Subject, ToolSet
from strictwire.contract.document import read_contract
from strictwire.contract.registry import ContractRefused
from strictwire.sources.dump import NOT_JSON, not_json_problem
from strictwire.sources.entries import MALFORMED
from strictwire.sources.refused import NoSchemaFiles, SourceRefused

OUTPUT: Final = ".output.json"
CONTRACT: Final = ".contract.json"
SHARED: Final = ".schema.json"
INPUT: Final = ".json"


def read_folder(path: Path) -> ToolSet:
    """The tools of a folder that contains the files, or a subfolder `tools` with the files. Raises SourceRefused."""
    folder = path / "tools" if (path / "tools").is_dir() else path
    try:
        files = sorted(each for each in folder.iterdir() if each.is_file())
        texts = {each.name: _read(each) for each in files}
    except OSError as exc:
        raise SourceRefused(str(path), f"cannot read the folder ({exc.strerror})") from exc
    return build_folder(texts, label=str(path), prefix=f"{folder}/")


def _read(path: Path) -> bytes | None:
    """The content of a file, or None if it is larger than any schema may be."""
    return path.read_bytes() if path.stat().st_size <= MAX_BYTES else None


def build_folder(texts: Mapping[str, bytes | None], *, label: str, prefix: str) -> ToolSet:
    """The tools of schema files, given as contents by file name. Raises NoSchemaFiles."""
    reader = _FolderReader(texts, prefix)
    names = [
        name.removesuffix(INPUT)
        for name in sorted(texts)
        if name.endswith(INPUT) and not name.endswith((OUTPUT, CONTRACT, SHARED))
    ]
    if not names:
        raise NoSchemaFiles(label, "no schema files: expected <tool>.json in the folder or in its subfolder 'tools'")
    subjects = [subject for name in names if (subject := reader.tool(name)) is not None]
    shared = {name: document for name in sorted(texts) if name.endswith(SHARED) and (document := reader.document(name))}
    return ToolSet(
        label=label,
        subjects=tuple(subjects),
        source_kind=SourceKind.FOLDER,
        read_problems=tuple(reader.read_problems),
        texts={prefix + name: raw for name, raw in texts.items() if raw is not None},
        files=tuple(prefix + name for name in sorted(texts)),
        documents=shared,
    )


class _FolderReader:
    """Parses the files of one folder and collects read problems."""

    def __init__(self, texts: Mapping[str, bytes | None], prefix: str) -> None:
        self.texts = texts
        self.prefix = prefix
        self.read_problems: list[ReadProblem] = []

    def tool(self, name: str) -> Subject | None:
        """The tool, or None if one of its files cannot be read; `read_problems` says which."""
        known = len(self.read_problems)
        input_schema, output_schema = self.document(name + INPUT), self.document(name + OUTPUT)
        document = self.document(name + CONTRACT)
        if input_schema is None or len(self.read_problems) > known:
            return None
        entry = SourceLocation(self.prefix + name + (CONTRACT if document is not None else INPUT))
        try:
            contract = read_contract(
                name,
                input_schema=input_schema,
                output_schema=output_schema,
                document=document or _description_of(input_schema),
            )
        except ContractRefused as exc:
            self.read_problems.append(ReadProblem(MALFORMED, entry, str(exc), 1, 1))
            return None
        return Subject(
            contract=contract,
            entry=entry,
            input=SourceLocation(self.prefix + name + INPUT),
            output=SourceLocation(self.prefix + name + OUTPUT),
            has_terms=document is not None,
        )

    def document(self, name: str) -> JsonObject | None:
        """The JSON object in a file, or None if the file does not exist or has a read problem."""
        if name not in self.texts:
            return None
        raw = self.texts[name]
        if raw is None:
            problem = ReadProblem(
                NOT_JSON, SourceLocation(self.prefix + name), f"the file is larger than {MAX_BYTES:,} bytes", 1, 1
            )
            self.read_problems.append(problem)
            return None
        try:
            return parse_object(raw)
        except NotStrict as exc:
            self.read_problems.append(not_json_problem(exc, raw, self.prefix + name))
            return None


def _description_of(schema: JsonObject) -> JsonObject:
    """Without a contract file, the description of the tool is that of its input schema."""
    text = schema.get("description")
    return {"description": text} if isinstance(text, str) else {}

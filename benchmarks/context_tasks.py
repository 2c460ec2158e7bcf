"""Four ranking tasks made from public packages by rule, so that nothing can be tuned by hand.

    docstrings   the first sentence of a docstring finds its function, from which it is removed
    sections     the title of a documentation section finds the section, from which it is removed
    commits      the subject of a commit of this repository finds the files that the commit changed
    questions    a question of a package's FAQ finds its answer among all sections of the documentation

A section is a document of its own. It keeps the titles of the sections around it, and loses its own title and the link
targets, which often repeat the title. Every ranking gets the same text and the same paths.
"""

from __future__ import annotations

import ast
import importlib.util
import random
import re
import shutil
import subprocess
import sys
import tarfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
DOWNLOADS: Final = ROOT / ".bench" / "context"
SEED: Final = 20260102
FEWEST_WORDS: Final = 4
MOST_FILES: Final = 10
"""Commits that change more files are about something else than their subject: renames, formatting."""

CODE: Final = ("django", "sqlalchemy", "networkx")
DOCS: Final = ("django==5.2.19", "celery==5.7.0", "sphinx==9.0.4", "scrapy==2.19.0")
FAQS: Final = (
    *DOCS,
    "coverage==7.17.3",
    "salt==3008.5",
    "beets==2.14.1",
    "tornado==6.6.1",
    "pylint==4.1.3",
    "jinja2==3.1.6",
    "cython==3.3.1",
    "dask==2026.8.0",
)
"""Source distributions; they contain the documentation."""

_RULE: Final = re.compile(r"([=\-~^\"'*+#:.`_])\1{2,}[ \t]*$")
_TARGET: Final = re.compile(r"\.\. _[^:]+:\s*$")


@dataclass(frozen=True, slots=True)
class Task:
    """Documents by path, and queries with the paths that are relevant."""

    name: str
    documents: Mapping[str, str]
    queries: Sequence[tuple[str, frozenset[str]]]


def docstrings(count: int) -> Task:
    documents: dict[str, str] = {}
    summaries: dict[str, str] = {}
    for package in CODE:
        for path, text, summary in _functions_of(package):
            documents[path], summaries[path] = text, summary
    documents = _distinct(documents)
    seen = Counter(summary.lower() for summary in summaries.values())
    queries = [
        (summaries[path], frozenset({path}))
        for path, text in documents.items()
        if _is_query(summaries[path]) and seen[summaries[path].lower()] == 1 and summaries[path] not in text
    ]
    return Task("docstrings", documents, _draw(queries, count))


def sections(count: int) -> Task:
    found = [section for package in DOCS for section in _sections_of(package)]
    documents = _distinct({section.path: section.text for section in found})
    seen = Counter(section.title.lower() for section in found)
    queries = [
        (section.title, frozenset({section.path}))
        for section in found
        if section.path in documents and len(section.title.split()) >= 3 and seen[section.title.lower()] == 1
    ]
    return Task("sections", documents, _draw(queries, count))


def questions(count: int) -> Task:
    found = [section for package in FAQS for section in _sections_of(package)]
    documents = _distinct({section.path: section.text for section in found})
    queries = [
        (section.title, frozenset({section.path}))
        for section in found
        if section.path in documents and "faq" in section.path and section.title.endswith("?") and _is_query(section.title)
    ]
    return Task("questions", documents, _draw(queries, count))


def commits(count: int) -> Task:
    """Files as they are now. Commits that changed none of them, or too many, are left out."""
    names = _git("ls-files").splitlines()
    endings = (".py", ".md", ".toml", ".rst", ".txt", ".sh")
    documents = _distinct(
        {
            name: (ROOT / name).read_text(encoding="utf-8")
            for name in names
            if name.endswith(endings) and (ROOT / name).is_file()
        }
    )
    queries = []
    for entry in _git("log", "--no-merges", "--name-only", "--format=%x01%s").split("\x01")[1:]:
        subject, *changed = [line for line in entry.splitlines() if line]
        relevant = frozenset(documents.keys() & {name.lower() for name in changed})
        if relevant and len(changed) <= MOST_FILES and _is_query(subject):
            queries.append((subject, relevant))
    return Task("commits", documents, _draw(queries, count))


TASKS: Final[Mapping[str, Callable[[int], Task]]] = {
    "docstrings": docstrings,
    "sections": sections,
    "commits": commits,
    "questions": questions,
}


def _is_query(text: str) -> bool:
    return len(text.split()) >= FEWEST_WORDS


def _draw(queries: Sequence[tuple[str, frozenset[str]]], count: int) -> list[tuple[str, frozenset[str]]]:
    ordered = sorted(queries, key=lambda query: (query[0], sorted(query[1])))
    return random.Random(SEED).sample(ordered, min(count, len(ordered)))  # noqa: S311 - a fixed draw, not a secret


def _distinct(documents: Mapping[str, str]) -> dict[str, str]:
    """Remove duplicates: a cache stores each content once and compares ids in lower case."""
    by_text = {text: path.lower() for path, text in sorted(documents.items(), reverse=True) if text.strip()}
    return {path: text for text, path in sorted(by_text.items(), key=lambda item: item[1])}


# Functions


def _functions_of(package: str) -> Iterator[tuple[str, str, str]]:
    """Yield path, source without the summary, and the summary of each function."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit(f"{package} is not installed; run pip install --group bench")
    root = Path(spec.submodule_search_locations[0])
    for file in sorted(root.rglob("*.py")):
        relative = file.relative_to(root.parent)
        if "tests" not in relative.parts and "testing" not in relative.parts:
            source = file.read_text(encoding="utf-8")
            yield from _functions(ast.parse(source), source.encode().split(b"\n"), relative.with_suffix("").as_posix())


def _functions(node: ast.AST, lines: Sequence[bytes], prefix: str) -> Iterator[tuple[str, str, str]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            yield from _functions(child, lines, f"{prefix}/{child.name}")
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            summary = _summary(child)
            text = _without(_segment(child, lines), summary)
            yield f"{prefix}/{child.name}-{child.lineno}.py".lower(), text, summary


def _segment(node: ast.FunctionDef | ast.AsyncFunctionDef, lines: Sequence[bytes]) -> str:
    """Like `ast.get_source_segment`, but that splits the whole file into lines for every function."""
    last = node.end_lineno or node.lineno
    whole = list(lines[node.lineno - 1 : last])
    whole[-1] = whole[-1][: node.end_col_offset]
    whole[0] = whole[0][node.col_offset :]
    return b"\n".join(whole).decode()


def _summary(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    paragraph = (ast.get_docstring(node, clean=True) or "").partition("\n\n")[0]
    return " ".join(re.split(r"(?<=[.!?])\s", paragraph, maxsplit=1)[0].split())


def _without(text: str, summary: str) -> str:
    if not summary:
        return text
    return re.sub(r"\s+".join(map(re.escape, summary.split())), "", text, count=1)


# Sections


@dataclass(frozen=True, slots=True)
class Section:
    """A section of a page: its text without its own title, and the title."""

    path: str
    text: str
    title: str


def _sections_of(package: str) -> Iterator[Section]:
    root = unpack(package)
    for file in sorted([*root.rglob("*.rst"), *root.rglob("docs/**/*.txt")]):
        relative = file.relative_to(root.parent)
        if "tests" in relative.parts or "_theme" in str(relative):
            continue
        lines = file.read_text(encoding="utf-8", errors="replace").split("\n")
        yield from _split(lines, relative.with_suffix("").as_posix().lower())


def _split(lines: Sequence[str], page: str) -> Iterator[Section]:
    marks = list(_titles(lines))
    around: list[tuple[int, str]] = []
    for number, (_, body, level, title) in enumerate(marks):
        end = marks[number + 1][0] if number + 1 < len(marks) else len(lines)
        while around and around[-1][0] >= level:
            around.pop()
        kept = [line for line in lines[body:end] if not _TARGET.match(line)]
        context = [part for _, each in around for part in (each, "=" * len(each), "")]
        if any(line.strip() for line in kept):
            yield Section(f"{page}/{number:03}.rst", "\n".join([*context, *kept]), title)
        around.append((level, title))


def _titles(lines: Sequence[str]) -> Iterator[tuple[int, int, int, str]]:
    """Yield first line, first line of the body, level and text of each title of reStructuredText."""
    levels: dict[tuple[str, bool], int] = {}
    for at in range(1, len(lines)):
        text, under = lines[at - 1].rstrip(), lines[at].rstrip()
        if not text or text[0].isspace() or not _RULE.match(under) or _RULE.match(text) or len(under) < len(text):
            continue
        over = at > 1 and lines[at - 2].rstrip() == under
        yield at - 2 if over else at - 1, at + 1, levels.setdefault((under[0], over), len(levels) + 1), text.strip()


def unpack(package: str) -> Path:
    """Download and unpack a source distribution, once. Returns its folder."""
    folder = DOWNLOADS / package.replace("==", "-")
    if not folder.exists():
        archives = DOWNLOADS / "archives"
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"]
        name, _, version = package.partition("==")
        if not list(archives.glob(f"{name}-{version}*.tar.gz")):
            subprocess.run([*command, "--dest", str(archives), package], check=True)
        (archive,) = archives.glob(f"{name}-{version}*.tar.gz")
        with tarfile.open(archive) as opened:
            opened.extractall(folder.parent, filter="data")
    return folder


def _git(*arguments: str) -> str:
    command = [shutil.which("git") or "git", *arguments]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout

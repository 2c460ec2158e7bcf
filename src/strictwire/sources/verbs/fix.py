"""`strictwire lint --fix`: mends findings in schema files where the fix is certain; `--diff` shows what it would do."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from strictwire.check.engine import Progress, no_progress
from strictwire.check.finding import Finding
from strictwire.check.fix import Fixed, fix_text
from strictwire.check.render.text import count
from strictwire.check.subject import ToolSet
from strictwire.fault.escape import for_terminal
from strictwire.sources.dump import LIMITS
from strictwire.sources.refused import SourceRefused
from strictwire.sources.specifier import local_paths, read_source
from strictwire.sources.verbs.lint import LintOptions, lint_report, run_lint
from strictwire.sources.verbs.result import CLEAN, FINDINGS, VerbResult, verb
from strictwire.sources.whole_file import write_whole

_FOR_PEOPLE: Final = frozenset({"text", "colour", "statistics"})
"""Formats that a line about the fixes may precede."""


@verb
def run_fix(options: LintOptions, progress: Progress = no_progress) -> VerbResult:
    """Mend the files, then check them again."""
    fixed = _fix(options)
    for path, (_, after) in fixed.items():
        write_whole(Path(path), after.raw)
    result = run_lint(options, progress)
    return replace(result, text=_summary(fixed) + result.text) if options.output.output_format in _FOR_PEOPLE else result


@verb
def run_diff(options: LintOptions) -> VerbResult:
    """Show what `run_fix` would change; write nothing. The exit code is 100 if there is anything."""
    fixed = _fix(options)
    lines = [for_terminal(line) for path, texts in fixed.items() for line in _diff(path, *texts)]
    return VerbResult(exit_code=FINDINGS if fixed else CLEAN, text="".join(f"{line}\n" for line in lines))


def _fix(options: LintOptions) -> Mapping[str, tuple[bytes, Fixed]]:
    """The files that change: their old content, and their new one. Raises SourceRefused if a source is not a file."""
    given = [options.source] if isinstance(options.source, str | ToolSet) else options.source
    others = [each for each in given if each not in local_paths(options.source) or str(each).endswith(".lock")]
    if others:
        raise SourceRefused(getattr(others[0], "label", str(others[0])), "only schema files and dumps can be fixed")
    changed: dict[str, tuple[bytes, Fixed]] = {}
    for source in given:
        tools = read_source(source)
        findings: dict[str, list[Finding]] = {}
        for finding in lint_report([tools], replace(options, source=source)).findings:
            if _may_be_fixed(finding, tools):
                findings.setdefault(finding.file, []).append(finding)
        for file, found in findings.items():
            after = fix_text(tools.texts[file], found, LIMITS)
            if after.rules:
                changed[file] = (tools.texts[file], after)
    return changed


def _may_be_fixed(finding: Finding, tools: ToolSet) -> bool:
    """Whether the finding is in a regular file, and, if the fix deletes a definition, no other file names that file."""
    if finding.file not in tools.texts or Path(finding.file).is_symlink():
        return False
    name = Path(finding.file).name.encode()
    return finding.rule != "DEFS_USED" or not any(name in raw for file, raw in tools.texts.items() if file != finding.file)


def _diff(path: str, before: bytes, after: Fixed) -> Iterator[str]:
    old, new = (raw.decode().splitlines() for raw in (before, after.raw))
    return difflib.unified_diff(old, new, path, path, lineterm="")


def _summary(fixed: Mapping[str, tuple[bytes, Fixed]]) -> str:
    rules = Counter(rule for _, after in fixed.values() for rule in after.rules)
    named = ", ".join(f"{rule} {number}" for rule, number in sorted(rules.items()))
    words = f"fixed {count(rules.total(), 'finding')} in {count(len(fixed), 'file')}"
    return f"{words} ({named})\n" if fixed else "nothing to fix\n"

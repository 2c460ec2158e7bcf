"""`strictwire unity`: check, compare and search Unity projects from their files, without the editor."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from strictwire.cli import shared
from strictwire.cli.progress import show_progress

if TYPE_CHECKING:
    from strictwire.packs.unity.verbs.outcome import VerbResult

EXAMPLES: Final = """examples:
  strictwire unity check                                 the project here, or every project below
  strictwire unity check Game --format sarif             for code scanning
  strictwire unity check --baseline unity.json --write-baseline
  strictwire unity diff main HEAD                        scenes and prefabs between two commits
  strictwire unity diff HEAD . Assets/Scenes/Main.unity  one scene against the file on disk
  strictwire unity diff main HEAD --format markdown      for a pull request
  strictwire unity usages Assets/Materials/Wall.mat      every file, line and property that refers to it
  strictwire unity tree Assets/Scenes/Main.unity --depth 2 --components
  strictwire unity unused --type Texture                 textures that no scene of the build leads to

exit codes: 0 fine, 100 findings, 1 could not run, 2 usage
"""

DEFAULT_LIMIT: Final = 1_000

MAX_DEPTH: Final = 60
"""Levels of a tree. JSON nests two for each, and strict readers stop at 128."""


def configure(parser: argparse.ArgumentParser) -> None:
    """The verbs and their options."""
    verbs = parser.add_subparsers(dest="unity_verb", required=True, metavar="VERB", parser_class=type(parser))
    _configure_check(_verb(verbs, "check", "find missing scripts, broken references, GUID and .meta faults"))
    _configure_diff(_verb(verbs, "diff", "compare scenes and prefabs of two commits by objects and fields"))
    usages = _verb(verbs, "usages", "list where an asset is used")
    usages.add_argument("asset", metavar="ASSET", help="a path such as Assets/Wall.mat, or a GUID")
    _add_project(usages)
    _add_limit(usages, "usages")
    _configure_tree(_verb(verbs, "tree", "show the hierarchy of a scene or prefab"))
    unused = _verb(verbs, "unused", "list assets that nothing leads to")
    unused.add_argument("path", nargs="?", type=Path, default=Path(), metavar="PATH", help="a project (default: .)")
    unused.add_argument("--type", action="append", default=[], help="only assets of this type, such as Texture; repeatable")
    _add_limit(unused, "assets")


def _verb(verbs: Any, name: str, summary: str) -> argparse.ArgumentParser:
    own = [line for line in EXAMPLES.splitlines() if line.startswith(f"  strictwire unity {name}")]
    made: argparse.ArgumentParser = verbs.add_parser(
        name,
        help=summary,
        description=summary[0].upper() + summary[1:] + ".",
        epilog="\n".join(["examples:", *own]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    return made


def _configure_check(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "path", nargs="?", type=Path, default=Path(), metavar="PATH", help="a project or folder (default: .)"
    )
    parser.add_argument("--baseline", type=Path, metavar="FILE", help="findings that are known and do not fail the check")
    parser.add_argument("--write-baseline", action="store_true", help="write the present findings to the baseline")
    parser.add_argument("--fail-on", choices=("error", "warning", "note"), help="least severe finding that fails the check")
    _add_no_index(parser)
    shared.add_report(parser)


def _configure_diff(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("before", metavar="REF", help="a commit, branch or tag; . means the files on disk")
    parser.add_argument("after", metavar="REF", help="the same for the later version")
    parser.add_argument("path", nargs="?", type=Path, default=Path(), metavar="PATH", help="a file or folder (default: .)")
    parser.add_argument("--format", choices=("text", "json", "markdown", "html"), default="text")
    parser.add_argument("--all-assets", action="store_true", help="compare materials, controllers and other text assets too")
    parser.add_argument("--limit", type=_positive, default=10_000, metavar="N", help="changes of one file that are listed")
    parser.add_argument("--exit-code", action="store_true", help="exit with 100 if there are differences")


def _configure_tree(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("scene", metavar="SCENE", help="a .unity or .prefab file")
    _add_project(parser)
    levels = f"levels that are shown (default and most: {MAX_DEPTH})"
    parser.add_argument("--depth", type=_depth, default=MAX_DEPTH, metavar="N", help=levels)
    parser.add_argument("--components", action="store_true", help="show the components of each object")
    _add_limit(parser, "objects", has_index=False)


def _add_project(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--project", type=Path, default=Path(), metavar="DIR", help="the project (default: the one around .)"
    )


def _add_limit(parser: argparse.ArgumentParser, what: str, *, has_index: bool = True) -> None:
    parser.add_argument("--limit", type=_positive, default=DEFAULT_LIMIT, metavar="N", help=f"{what} that are listed")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    if has_index:
        _add_no_index(parser)


def _add_no_index(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--no-index", action="store_true", help="read every file, and keep no index for the next run")


def _positive(text: str) -> int:
    number = int(text) if text.isdecimal() and len(text) < 10 else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number from 1 on, got {text!r}")
    return number


def _depth(text: str) -> int:
    number = _positive(text)
    if number > MAX_DEPTH:
        raise argparse.ArgumentTypeError(f"expected at most {MAX_DEPTH}, got {text}")
    return number


def run(arguments: argparse.Namespace) -> int:
    """Run one verb and write what it gives."""
    result = {"check": _check, "diff": _diff, "usages": _usages, "tree": _tree, "unused": _unused}[arguments.unity_verb](
        arguments
    )
    if result.error:
        print(f"strictwire unity {arguments.unity_verb}: {result.error}", file=sys.stderr)
    if result.text:
        # Names may hold characters that the terminal's encoding lacks.
        sys.stdout.buffer.write(result.text.encode("utf-8", "replace"))
        sys.stdout.flush()
    return result.exit_code


def _check(arguments: argparse.Namespace) -> VerbResult:
    from strictwire.check.finding import Level
    from strictwire.check.policy import PolicyRefused
    from strictwire.packs.unity.check.policy import parse_unity_settings
    from strictwire.packs.unity.verbs.check import CheckOptions, run_check
    from strictwire.packs.unity.verbs.outcome import USAGE, VerbResult
    from strictwire.settings.read import SettingsRefused

    try:
        policy = parse_unity_settings(shared.read_table(arguments, "unity"))
    except (SettingsRefused, PolicyRefused) as exc:
        return VerbResult(exit_code=USAGE, error=str(exc))
    options = CheckOptions(
        path=arguments.path,
        policy=policy,
        style=shared.format_of(arguments),
        baseline=arguments.baseline,
        write_baseline=arguments.write_baseline,
        fail_on=Level(arguments.fail_on) if arguments.fail_on else None,
        index_folder=_index_folder(arguments),
    )
    return run_check(options, show_progress)


def _diff(arguments: argparse.Namespace) -> VerbResult:
    from strictwire.packs.unity.verbs.diff import UnityDiffOptions, run_diff

    options = UnityDiffOptions(
        before=arguments.before,
        after=arguments.after,
        path=arguments.path,
        style=shared.format_of(arguments),
        all_assets=arguments.all_assets,
        limit=arguments.limit,
        exit_code=arguments.exit_code,
    )
    return run_diff(options, show_progress)


def _usages(arguments: argparse.Namespace) -> VerbResult:
    from strictwire.packs.unity.verbs.usages import UsagesOptions, run_usages

    options = UsagesOptions(
        asset=arguments.asset,
        project=arguments.project,
        limit=arguments.limit,
        is_json=arguments.format == "json",
        index_folder=_index_folder(arguments),
    )
    return run_usages(options, show_progress)


def _tree(arguments: argparse.Namespace) -> VerbResult:
    from strictwire.packs.unity.verbs.tree import TreeOptions, run_tree

    options = TreeOptions(
        scene=arguments.scene,
        project=arguments.project,
        depth=arguments.depth,
        limit=arguments.limit,
        shows_components=arguments.components,
        is_json=arguments.format == "json",
    )
    return run_tree(options)


def _unused(arguments: argparse.Namespace) -> VerbResult:
    from strictwire.packs.unity.verbs.usages import UnusedOptions, run_unused

    options = UnusedOptions(
        path=arguments.path,
        types=tuple(arguments.type),
        limit=arguments.limit,
        is_json=arguments.format == "json",
        index_folder=_index_folder(arguments),
    )
    return run_unused(options, show_progress)


def _index_folder(arguments: argparse.Namespace) -> Path | None:
    """Where indexes are kept from one run to the next; None if none is wanted."""
    from strictwire.settings.places import state_folder

    return None if arguments.no_index else state_folder() / "unity"

"""The contract commands on a small project: exit codes, written files, and that a check that did not run never passes."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import pytest

from strictwire.canon.json import parse_object
from strictwire.check.finding import Impact
from strictwire.check.policy import LintPolicy, Waiver
from strictwire.check.rule import Category
from strictwire.cli.main import main
from strictwire.sources.verbs.breaking import BreakingOptions, run_breaking
from strictwire.sources.verbs.files import (
    BundleOptions,
    DocsOptions,
    FreezeOptions,
    freeze_contracts,
    run_bundle,
    run_docs,
    run_freeze,
)
from strictwire.sources.verbs.lint import LintOptions, run_lint
from strictwire.sources.verbs.pin import PinOptions, run_pin, run_pin_check
from strictwire.sources.verbs.result import Output, VerbResult
from tests.sources.project import READ, READ_OUTPUT, closed, commit_all, write, write_project

STRICT = LintPolicy(category=Category.STRICT)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_project(tmp_path)
    commit_all(tmp_path, "v1")
    monkeypatch.chdir(tmp_path)
    return tmp_path


JSON = Output(output_format="json")


def rules_in(result: VerbResult) -> list[str]:
    """The rule of each finding, once for each of its places."""
    findings = parse_object(result.text.encode())["findings"]
    return [each["rule"] for each in findings for _ in range(1 + len(each.get("also", ())))]


def test_a_clean_project_passes_strict(project: Path) -> None:
    assert run_lint(LintOptions(policy=STRICT)) == VerbResult(exit_code=0, text="lint: 0 findings in 1 tool of schemas\n")


def test_findings_exit_with_100_and_progress_is_reported(project: Path) -> None:
    write(project / "schemas" / "tools" / "bare.json", {"type": "object"})
    seen: list[tuple[int, int]] = []
    result = run_lint(LintOptions(output=JSON), lambda done, total: seen.append((done, total)))

    assert (result.exit_code, rules_in(result), seen) == (
        100,
        ["CLIENT_PROPERTIES", "DESCRIPTION_PRESENT"],
        [(1, 2), (2, 2)],
    )


def test_an_unreadable_file_is_a_finding_in_every_category(project: Path) -> None:
    write(project / "schemas" / "tools" / "bad.json", b"{")
    result = run_lint(LintOptions(output=JSON, policy=LintPolicy(category=Category.CODE)))

    assert (result.exit_code, "FILE_STRICT_JSON" in rules_in(result)) == (100, True)


def test_a_check_that_could_not_run_exits_with_1_and_the_reason(project: Path) -> None:
    assert run_lint(LintOptions(source="none.json")) == VerbResult(
        exit_code=1, error="none.json: cannot read the file (No such file or directory)"
    )
    assert run_breaking(BreakingOptions(against="git:none")).exit_code == 1
    assert run_pin_check(PinOptions()).exit_code == 1


def test_an_invalid_policy_exits_with_2(project: Path) -> None:
    waiver = Waiver(rule="NO_SUCH_RULE", reason="r")

    assert run_lint(LintOptions(policy=LintPolicy(ruleset="1999"))).exit_code == 2
    assert run_lint(LintOptions(policy=LintPolicy(waivers=(waiver,)))).exit_code == 2
    assert run_breaking(BreakingOptions(against="git:v1", policy=LintPolicy(waivers=(waiver,)))).exit_code == 2


@pytest.mark.clause("G16")
def test_a_changed_schema_needs_a_contract_entry_and_a_test(project: Path) -> None:
    options = LintOptions(output=JSON, changed_since="v1")
    assert run_lint(options).exit_code == 0
    write(project / "schemas" / "tools" / "read.json", closed(uri={"type": "string", "pattern": "^file:", "maxLength": 9}))
    assert rules_in(run_lint(options)) == ["CHANGE_IN_CONTRACT", "CHANGE_TESTED"]
    write(project / "docs" / "CONTRACT.md", b"| read | one file, shorter |\n")
    assert rules_in(run_lint(options)) == ["CHANGE_TESTED"]
    write(project / "tests" / "test_read.py", b"# more\n")
    assert run_lint(options).exit_code == 0


@pytest.mark.clause("G16")
def test_a_removed_tool_and_a_new_tool_that_the_contract_does_not_name_are_changes(project: Path) -> None:
    (project / "schemas" / "tools" / "read.json").rename(project / "schemas" / "tools" / "look.json")
    for ending in ("output", "contract"):
        (project / f"schemas/tools/read.{ending}.json").rename(project / f"schemas/tools/look.{ending}.json")
    write(project / "docs" / "CONTRACT.md", b"| read | gone |\n")
    result = run_lint(LintOptions(output=JSON, changed_since="v1"))

    assert rules_in(result) == ["CHANGE_IN_CONTRACT", "CHANGE_TESTED", "CHANGE_TESTED"]


def test_breaking_compares_with_a_commit(project: Path) -> None:
    assert run_breaking(BreakingOptions(against="git:v1")).exit_code == 0
    write(project / "schemas" / "tools" / "read.json", closed(uri={"type": "string", "pattern": "^file:", "maxLength": 9}))
    result = run_breaking(BreakingOptions(against="git:v1", output=JSON))
    finding = parse_object(result.text.encode())["findings"][0]

    assert (result.exit_code, finding["rule"], finding["tier"], finding["file"], finding["line"]) == (
        100,
        "INPUT_BOUNDS_KEPT",
        "caller",
        "schemas/tools/read.json",
        8,
    )


def test_a_compatible_change_is_reported_and_passes(project: Path) -> None:
    write(project / "schemas" / "tools" / "read.json", {**READ, "required": []})
    result = run_breaking(BreakingOptions(against="git:v1", output=JSON))

    assert (result.exit_code, rules_in(result)) == (0, ["INPUT_COMPATIBLE"])


def test_pins_are_written_checked_and_compared(project: Path) -> None:
    assert run_pin(PinOptions()) == VerbResult(exit_code=0, text="pinned 1 tool in strictwire.lock\n")
    assert run_pin_check(PinOptions()).exit_code == 0
    assert run_breaking(BreakingOptions(against="strictwire.lock")).exit_code == 0
    write(project / "schemas" / "tools" / "read.contract.json", {"description": "Sends the file away."})
    write(project / "schemas" / "tools" / "more.json", READ)
    result = run_pin_check(PinOptions(output=JSON))

    assert (result.exit_code, sorted(rules_in(result))) == (
        100,
        ["PIN_ANNOTATIONS", "PIN_DESCRIPTION", "PIN_TOOL_KNOWN"],
    )
    assert rules_in(run_breaking(BreakingOptions(against="strictwire.lock", output=JSON))) == [
        "TOOL_ADDED",
        "HINTS_KEPT",
        "TERMS_KEPT",
        "DESCRIPTION_KEPT",
    ]


def test_a_difference_from_the_pin_shows_the_old_and_the_new_part(project: Path) -> None:
    schema = closed(uri={"type": "string", "description": "A file: URI."}, many={"type": "integer", "maximum": 9})
    tool = {"name": "a", "description": "Says a.", "inputSchema": schema}
    write(project / "a.json", [tool])
    options = PinOptions(source="a.json", output=JSON)
    run_pin(options)
    uri, many = schema["properties"]["uri"], schema["properties"]["many"]

    def change(**members: object) -> list[tuple[str, str, str]]:
        write(project / "a.json", [{**tool, **members}])
        findings = parse_object(run_pin_check(options).text.encode())["findings"]
        return [(each["message"], each.get("old", ""), each.get("new", "")) for each in findings]

    assert change(description="Says b.") == [("the description of the tool differs from the pin", "Says a.", "Says b.")]
    assert change(title="A") == [("the title of the tool was added after the pin", "", "A")]
    assert change(inputSchema=closed(uri={"type": "string"}, many=many)) == [
        ("the text input/properties/uri/description was removed after the pin", "A file: URI.", "")
    ]
    assert change(inputSchema=closed(uri=uri, many={**many, "maximum": 5})) == [
        ("properties/many/maximum of the input schema differs from the pin", "9", "5")
    ]
    assert change(inputSchema=closed(uri=uri, many={"type": "number"})) == [
        (
            "properties/many of the input schema differs from the pin",
            '{"maximum":9,"type":"integer"}',
            '{"type":"number"}',
        )
    ]
    assert change(outputSchema={"type": "object"}) == [
        ("the output schema was added after the pin", "", '{"type":"object"}')
    ]


def test_a_check_without_a_lock_file_names_the_command_that_writes_it(project: Path) -> None:
    result = run_pin_check(PinOptions())

    assert (result.exit_code, result.error) == (
        1,
        "strictwire.lock: there is no lock file; write it with `strictwire pin`",
    )


def test_a_source_with_read_problems_is_not_pinned(project: Path) -> None:
    write(project / "schemas" / "tools" / "bad.json", b"{")

    assert run_pin(PinOptions()).exit_code == 1
    assert not (project / "strictwire.lock").exists()


def test_freeze_writes_schema_files_that_read_back_as_the_same_contracts(project: Path) -> None:
    run_pin(PinOptions())
    assert run_freeze(FreezeOptions(source="strictwire.lock", out="frozen/tools")).text == "wrote 3 files for 1 tool\n"
    assert run_freeze(FreezeOptions(source="strictwire.lock", out="frozen/tools")).text == "wrote 0 files for 1 tool\n"
    assert run_pin_check(PinOptions(source="frozen")).exit_code == 0


def test_a_tool_name_that_is_not_a_file_name_is_not_frozen(project: Path) -> None:
    write(project / "evil.json", [{"name": "../../evil", "inputSchema": {"type": "object"}}])

    assert run_freeze(FreezeOptions(source="evil.json", out="frozen")).exit_code == 1
    assert freeze_contracts([], project / "empty") == ()


@pytest.mark.clause("G15")
def test_bundle_writes_self_contained_schemas(project: Path) -> None:
    tools = project / "schemas" / "tools"
    write(tools / "common.schema.json", {"$defs": {"text": {"type": "string", "maxLength": 9}}})
    write(tools / "read.output.json", closed(text={"$ref": "common.schema.json#/$defs/text"}))
    assert run_lint(LintOptions()).exit_code == 100
    assert run_bundle(BundleOptions(out="built/tools")).exit_code == 0
    assert run_lint(LintOptions(source="built")).exit_code == 0
    assert parse_object((project / "built/tools/read.output.json").read_bytes()) == {
        **READ_OUTPUT,
        "properties": {"text": {"$ref": "#/$defs/text"}},
        "$defs": {"text": {"type": "string", "maxLength": 9}},
    }


def test_bundle_never_downloads_a_schema(project: Path) -> None:
    write(project / "schemas/tools/read.output.json", closed(text={"$ref": "https://example.org/x.json"}))

    assert "leads outside" in run_bundle(BundleOptions(out="built")).error


def test_docs_are_written_as_markdown_and_html(project: Path) -> None:
    assert "## read" in run_docs(DocsOptions()).text
    assert run_docs(DocsOptions(output_format="html", out="tools.html")).exit_code == 0
    assert '<h2 id="read">' in (project / "tools.html").read_text("utf-8")


@pytest.mark.slow
def test_a_huge_schema_and_a_recursive_one_are_checked_without_a_traceback(project: Path) -> None:
    write(project / "schemas" / "tools" / "huge.json", b'{"type": "object", "x": "' + b"a" * 50_000_000 + b'"}')
    loop = {"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"$ref": "#/$defs/a"}}}
    write(project / "schemas" / "tools" / "loop.json", {**loop, "description": "Loops."})
    found = rules_in(run_lint(LintOptions(output=JSON)))

    assert "FILE_STRICT_JSON" in found
    assert run_breaking(BreakingOptions(against="git:v1")).exit_code == 100


def test_a_baseline_silences_what_is_known_and_nothing_else(project: Path) -> None:
    strict = LintPolicy(category=Category.STRICT)
    write(project / "schemas" / "tools" / "read.json", {**READ, "properties": {"uri": {"type": "string"}}})
    assert run_lint(LintOptions(policy=strict)).exit_code == 100
    assert run_lint(LintOptions(policy=strict, output=Output(write_baseline="known.json"))).exit_code == 0
    known = Output(output_format="json", baseline="known.json")
    assert run_lint(LintOptions(policy=strict, output=known)).exit_code == 0
    write(project / "schemas" / "tools" / "more.json", {"type": "object"})
    result = run_lint(LintOptions(policy=strict, output=known))

    assert result.exit_code == 100
    assert {each["tool"] for each in parse_object(result.text.encode())["findings"]} == {"more"}


def test_rules_can_be_selected_and_ignored_and_a_misspelled_one_is_refused(project: Path) -> None:
    write(project / "schemas" / "tools" / "read.json", {"type": "object", "default": {}})
    run = partial(LintOptions, output=JSON)
    selected = rules_in(run_lint(run(policy=LintPolicy(select=("NO_DEFAULT", "ROOT_CLOSED")))))
    ignored = rules_in(run_lint(run(policy=LintPolicy(select=("STRICT",), ignore=("NO_DEFAULT",)))))

    assert selected == ["ROOT_CLOSED", "NO_DEFAULT"]
    assert "ROOT_CLOSED" in ignored
    assert "NO_DEFAULT" not in ignored
    assert run_lint(run(policy=LintPolicy(select=("NO_DEFAULTS",)))) == VerbResult(
        exit_code=2, error="there is no rule 'NO_DEFAULTS' here; did you mean NO_DEFAULT?"
    )


@pytest.mark.parametrize(("fail_on", "exit_code"), [(Impact.CALLER, 0), (Impact.READER, 0), (Impact.MODEL, 100), (None, 0)])
def test_a_changed_description_fails_from_the_tier_model_on(project: Path, fail_on: Impact | None, exit_code: int) -> None:
    run_pin(PinOptions())
    document = parse_object((project / "schemas/tools/read.contract.json").read_bytes())
    write(project / "schemas/tools/read.contract.json", {**document, "description": "Another text."})
    policy = LintPolicy(fail_on=fail_on)

    assert run_breaking(BreakingOptions(against="strictwire.lock", policy=policy)).exit_code == exit_code


def test_statistics_count_the_findings_of_each_rule(project: Path) -> None:
    write(project / "schemas" / "tools" / "read.json", {"type": "object", "default": {}})
    policy = LintPolicy(select=("NO_DEFAULT",))

    assert run_lint(LintOptions(policy=policy, output=Output(output_format="statistics"))).text == (
        "      1  NO_DEFAULT  in 1 tool\nlint: 1 finding in 1 tool of schemas\n"
    )


def test_freeze_pin_and_check_agree_on_an_unchanged_server(project: Path) -> None:
    server = f"stdio:{sys.executable} {Path(__file__).parents[1] / 'broken_server.py'} correct"
    assert run_freeze(FreezeOptions(source=server, out="frozen/tools")).exit_code == 0
    assert run_pin(PinOptions(source="frozen", lock="frozen.lock")).exit_code == 0

    assert run_pin_check(PinOptions(source=server, lock="frozen.lock")) == VerbResult(
        exit_code=0, text=f"pin: 0 findings in 1 tool of {server.removeprefix('stdio:')} against frozen.lock\n"
    )


@pytest.mark.parametrize(("section", "rule"), [("lint", "ARGUMENT_KEPT"), ("lint", "NO_SUCH"), ("breaking", "NO_DEFAULT")])
def test_a_waiver_of_an_unknown_rule_or_of_another_check_is_refused(project: Path, section: str, rule: str) -> None:
    policy = LintPolicy(waivers=(Waiver(rule=rule, reason="r"),))
    result = (
        run_lint(LintOptions(policy=policy))
        if section == "lint"
        else run_breaking(BreakingOptions(against="git:v1", policy=policy))
    )

    assert (result.exit_code, f"there is no rule {rule!r} here" in result.error) == (2, True)


def test_an_unused_waiver_of_a_breaking_rule_fails(project: Path) -> None:
    policy = LintPolicy(waivers=(Waiver(rule="ARGUMENT_KEPT", reason="r"),))
    result = run_breaking(BreakingOptions(against="git:v1", policy=policy, output=JSON))

    assert (result.exit_code, rules_in(result)) == (100, ["WAIVER_USED"])


def test_an_unused_waiver_is_reported_in_the_settings_file_that_has_it(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(project / "w.toml", b'[[lint.waivers]]\nrule = "NO_DEFAULT"\nreason = "old"\n')
    main(["lint", "--config", "w.toml", "--select", "NO_DEFAULT", "--format", "json"])
    findings = parse_object(capsys.readouterr().out.encode())["findings"]

    assert [(each["rule"], each["file"]) for each in findings] == [("WAIVER_USED", "w.toml")]


def test_a_renamed_argument_shows_its_new_name(project: Path) -> None:
    write(project / "schemas" / "tools" / "read.json", closed(file_uri=READ["properties"]["uri"]))
    result = run_breaking(BreakingOptions(against="git:v1", output=JSON))
    renamed = next(each for each in parse_object(result.text.encode())["findings"] if each["rule"] == "ARGUMENT_NAME_KEPT")

    assert renamed["new"] == renamed["old"].replace('{"uri":', '{"file_uri":')
    assert renamed["new"] != renamed["old"]

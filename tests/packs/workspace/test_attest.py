"""Attestation bundles: made from real evidence, verified offline, and every alteration is detected."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.packs.workspace.harness import BUILDER, PLANNER, run
from tests.packs.workspace.project import Project, open_project

from strictwire.packs.workspace.attest import tools
from strictwire.packs.workspace.attest.bundle import bundle_id, signed_part
from strictwire.packs.workspace.attest.check import TrustedKeys, check_bundle
from strictwire.packs.workspace.pack import CHANGES, KEY
from strictwire.packs.workspace.plans.approval import open_signer
from strictwire.packs.workspace.verbs import FINDINGS, run_check

ENDLESS = 10**30


async def make(project: Project, **more: Any) -> Any:
    return await project.ask("generate_attestation_bundle", plan_hash=project.plan_hash, **more)


@cache
def example() -> tuple[str, str]:
    """A bundle of an executed plan, and the same bundle signed with the key of another server."""

    async def use(folder: Path) -> tuple[str, str]:
        async with open_project(folder) as project:
            await project.work()
            raw = (await make(project))["bundle"]
            signer = open_signer(folder / "other" / KEY)
            bundle = json.loads(raw)
            bundle["keys"]["workspace"] = signer.verifier.text
            bundle["signature"] = signer.sign_bundle(signed_part(bundle))
            return raw, json.dumps(bundle)

    with TemporaryDirectory() as folder:
        return asyncio.run(use(Path(folder)))


def test_equal_evidence_has_the_same_id_and_more_evidence_another(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_project(tmp_path) as project:
            await project.work()
            first, second = await make(project), await make(project)
            assert (first["bundle_id"], first["records"], first["complete"]) == (second["bundle_id"], 13, True)
            await project.build("write_file", path="src/e", content="e")
            assert (await make(project))["bundle_id"] != first["bundle_id"]
            assert (await make(project, phase_id="PHASE_9"))["records"] == 3

    run(use())


def test_a_bundle_is_valid_for_the_server_and_offline(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_project(tmp_path) as project:
            await project.work()
            made = await make(project)
            told = {"passed": True, "bundle_id": made["bundle_id"], "problem": None}
            assert await project.ask("verify_attestation_bundle", bundle=made["bundle"]) == told | {"trusted": True}
            alone = await project.ask("verify_attestation_bundle", bundle=made["bundle"], keys="bundle")
            assert alone == told | {"trusted": False}
            as_json = await project.ask("export_attestation_bundle", bundle=made["bundle"])
            assert json.loads(as_json["content"]) == json.loads(made["bundle"])
            assert as_json["file_name"] == f"{made['bundle_id']}.json"
            page = await project.ask("export_attestation_bundle", bundle=made["bundle"], format="markdown")
            assert f"- Plan: {project.plan_hash}\n" in page["content"]
            assert page["content"].count("| builder |") == 10
            return made["bundle"]

    raw = run(use())

    shown = run_check(raw.encode(), TrustedKeys())
    assert (shown.exit_code, shown.stdout.count("was not verified")) == (0, 2)
    bundle = json.loads(raw)
    known = TrustedKeys(workspace=bundle["keys"]["workspace"], audit=bundle["keys"]["audit"])
    assert run_check(raw.encode(), known).stdout.count("\n") == 1


def at(*path: Any) -> Callable[[Any, Any], None]:
    """Return a function that sets the value at a path."""

    def put(bundle: Any, value: Any) -> None:
        for step in path[:-1]:
            bundle = bundle[step]
        bundle[path[-1]] = value

    return put


def altered_record(bundle: Any) -> None:
    bundle["records"][4]["line"] = bundle["records"][4]["line"].replace("builder", "planner")


def altered_answer(bundle: Any) -> None:
    bundle["changes"][0]["answer"] = bundle["changes"][0]["answer"].replace("a.py", "z.py")


def altered_plan(bundle: Any) -> None:
    bundle["plan"]["text"] = bundle["plan"]["text"].replace("src/**", "**")


ALTERATIONS: list[tuple[Callable[[Any], Any], str, str]] = [
    (lambda b: at("format")(b, "other"), "FORMAT", "format"),
    (lambda b: b.pop("files"), "FORMAT", "files"),
    (lambda b: at("more")(b, 1), "FORMAT", "bundle"),
    (lambda b: at("records", 0, "index")(b, -1), "FORMAT", "records"),
    (lambda b: at("keys", "workspace")(b, "?"), "FORMAT", "keys"),
    (lambda b: at("keys", "audit")(b, "x+y+z"), "FORMAT", "keys"),
    (lambda b: at("approval", "more")(b, ENDLESS), "APPROVAL", "plan"),
    (altered_plan, "PLAN_HASH", "plan"),
    (lambda b: at("plan", "hash")(b, "0" * 64), "PLAN_HASH", "0" * 64),
    (lambda b: at("workspace")(b, "0" * 64), "PLAN_HASH", "plan"),
    (lambda b: at("approval", "approver")(b, "mallory"), "APPROVAL", "plan"),
    (lambda b: at("approval")(b, None), "APPROVAL", "plan"),
    (lambda b: at("checkpoint")(b, b["checkpoint"].replace("\n", "\n1", 1)), "CHECKPOINT", "checkpoint"),
    (lambda b: at("checkpoint")(b, "?"), "CHECKPOINT", "checkpoint"),
    (altered_record, "RECORD", "record 4"),
    (lambda b: b["records"][3]["proof"].reverse(), "RECORD", "record 3"),
    (lambda b: at("records", 3, "proof", 0)(b, "?"), "RECORD", "record 3"),
    (lambda b: at("records", 3, "index")(b, b["records"][3]["index"] + 1), "RECORD", "records"),
    (lambda b: b["records"].reverse(), "RECORD", "records"),
    (altered_answer, "CHANGE", "record 4"),
    (lambda b: b["changes"].pop(), "CHANGE", "record 12"),
    (lambda b: b["changes"].append(b["changes"][0]), "CHANGE", "record 4"),
    (lambda b: at("files", 1, "recorded")(b, None), "FILES", "src/b.py"),
    (lambda b: b["files"].pop(), "FILES", "src/d"),
    (lambda b: at("files", 1, "now")(b, None), "BUNDLE_ID", "bundle_id"),
    (lambda b: at("complete")(b, False), "BUNDLE_ID", "bundle_id"),
    (lambda b: at("phase_id")(b, "PHASE_1"), "BUNDLE_ID", "bundle_id"),
    (lambda b: at("bundle_id")(b, "0" * 64), "BUNDLE_ID", "bundle_id"),
    (lambda b: at("signature")(b, ""), "SIGNATURE", "signature"),
    (lambda b: at("signature")(b, b["signature"].swapcase()), "SIGNATURE", "signature"),
]


@pytest.mark.parametrize(("alter", "check", "subject"), ALTERATIONS)
def test_the_first_failed_check_is_reported(alter: Callable[[Any], Any], check: str, subject: str) -> None:
    bundle = json.loads(example()[0])
    indexes = {f"record {place}": str(each["index"]) for place, each in enumerate(bundle["records"])}
    expected = indexes.get(subject, bundle["plan"]["hash"] if subject == "plan" else subject)
    alter(bundle)

    checked = check_bundle(json.dumps(bundle).encode(), TrustedKeys())

    assert checked.problem is not None
    assert (checked.problem.check, checked.problem.subject) == (check, expected)
    assert run_check(json.dumps(bundle).encode(), TrustedKeys()).exit_code == FINDINGS


def test_an_altered_bundle_with_a_new_signature_is_detected_by_its_key() -> None:
    raw, other = example()
    known = json.loads(raw)["keys"]

    checked = check_bundle(other.encode(), TrustedKeys(workspace=known["workspace"], audit=known["audit"]))
    assert checked.problem is not None
    assert (checked.problem.check, checked.problem.subject) == ("KEY_NOT_TRUSTED", "workspace")
    # Without a trusted key, the approval still shows that another key signed it.
    alone = check_bundle(other.encode(), TrustedKeys())
    assert alone.problem is not None
    assert alone.problem.check == "APPROVAL"
    assert check_bundle(b"[1]", TrustedKeys()).bundle is None


def test_a_forged_bundle_with_other_keys_cannot_crash_the_check(tmp_path: Path) -> None:
    """With its own keys, a forger can sign any content. The check must still end with a result."""
    signer = open_signer(tmp_path / KEY)
    bundle = json.loads(example()[0])
    for answer in ("[]", "{}", '{"files":1}', '{"files":[1]}', "?", '{"path":[]}'):
        bundle["changes"][0]["answer"] = answer
        bundle["bundle_id"] = bundle_id(bundle)
        bundle["keys"]["workspace"] = signer.verifier.text
        bundle["signature"] = signer.sign_bundle(signed_part(bundle))
        assert check_bundle(json.dumps(bundle).encode(), TrustedKeys()).passed is False


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**30), 10**30) | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=5,
)


def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the paths of all values that can be altered."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [*([at] if at else []), *(place for name, each in inner for place in places(each, (*at, name)))]


@settings(max_examples=60, deadline=None)
@given(st.randoms(use_true_random=False), JSON)
def test_no_arbitrary_alteration_is_valid_or_crashes_the_check(chance: Any, value: Any) -> None:
    bundle = json.loads(example()[0])
    place = chance.choice(places(bundle))
    target = bundle
    for step in place[:-1]:
        target = target[step]
    before, target[place[-1]] = target[place[-1]], value
    # Compared as JSON, because True == 1 in Python.
    is_same = json.dumps(before) == json.dumps(value)

    assert check_bundle(json.dumps(bundle).encode(), TrustedKeys()).passed is is_same


@pytest.mark.clause("S12")
def test_each_reason_against_an_attestation_has_its_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def use() -> None:
        async with open_project(tmp_path) as project:
            base = {"session_id": project.builder}
            code = project.harness.code
            assert (await code(BUILDER, "generate_attestation_bundle", **base, plan_hash="0" * 64))[0] == "PLAN_NOT_FOUND"
            proposed = await project.harness.plan(project.planner, title="Another")
            got = await code(PLANNER, "generate_attestation_bundle", session_id=project.planner, plan_hash=proposed)
            assert got[0] == "PLAN_NOT_APPROVED"
            broken = await code(BUILDER, "export_attestation_bundle", **base, bundle="{}")
            assert broken == ("INVALID_INPUT_VALUE", "bundle")
            told = await project.ask("verify_attestation_bundle", bundle="{}")
            assert told["problem"]["check"] == "FORMAT"

            await project.work()
            with monkeypatch.context() as patched:
                patched.setattr(tools, "MAX_BUNDLE", 1000)
                large = await code(BUILDER, "generate_attestation_bundle", **base, plan_hash=project.plan_hash)
                assert large == ("UNKNOWN_TOOL_FAILURE", "too_large")
            for path in (tmp_path / "state" / CHANGES).rglob("*.jsonl"):
                path.unlink()
            got = await code(BUILDER, "generate_attestation_bundle", **base, plan_hash=project.plan_hash)
            assert got == ("AUDIT_LOG_FAILED", "evidence")

    run(use())

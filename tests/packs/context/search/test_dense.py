"""The settings of dense retrieval, the extra, and that nothing is imported without them. Over the real stdio server once."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from tests.fixtures.live import StdioProcess, modern
from tests.packs.context.caches import make_cache
from tests.packs.context.search.semantic.models import write_model

from strictwire.canon.json import parse_object
from strictwire.packs.context.pack import ContextPack
from strictwire.packs.pack import Environment, PackRefused

OPEN = """
    import asyncio, sys
    {before}
    from strictwire.packs.context.pack import ContextPack
    from strictwire.packs.pack import Environment, PackRefused

    async def main():
        pack = ContextPack()
        try:
            await pack.open(Environment(settings={settings!r}))
        except PackRefused as refused:
            print(refused)
        await pack.close()

    asyncio.run(main())
    print(sorted({{"numpy", "onnxruntime", "tokenizers"}} & set(sys.modules)))
"""


def opened(settings: dict[str, str], before: str = "") -> str:
    """Open the pack in an interpreter of its own, and return what it prints."""
    program = textwrap.dedent(OPEN.format(settings=settings, before=before))
    return subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True, timeout=60).stdout


def test_without_the_setting_nothing_is_imported(tmp_path: Path) -> None:
    assert opened({"root": str(tmp_path)}) == "[]\n"


def test_with_the_setting_the_extra_is_imported(tmp_path: Path) -> None:
    settings = {"root": str(tmp_path), "semantic_model": str(write_model(tmp_path / "model"))}

    assert opened(settings) == "['numpy', 'onnxruntime', 'tokenizers']\n"


@pytest.mark.parametrize("missing", ["numpy", "onnxruntime", "tokenizers"])
def test_a_missing_extra_is_a_refusal_that_names_the_command(tmp_path: Path, missing: str) -> None:
    said = opened({"root": str(tmp_path), "semantic_model": str(tmp_path)}, before=f"sys.modules[{missing!r}] = None")

    assert "pip install 'strictwire[semantic]'" in said


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"semantic_model": 1}, "`semantic_model` must be the path of a folder"),
        ({"semantic_model": ""}, "`semantic_model` must be the path of a folder"),
        ({"semantic_model": "nowhere", "semantic_threads": 0}, "`semantic_threads` must be a whole number from 1 to 64"),
        ({"semantic_model": "nowhere", "semantic_threads": True}, "`semantic_threads` must be a whole number"),
        ({"semantic_model": "nowhere", "semantic_tokens": 4096}, "`semantic_tokens` must be a whole number from 16 to 2048"),
        ({"semantic_model": "nowhere"}, "nowhere/model.onnx cannot be read"),
    ],
)
def test_settings_that_cannot_be_used_are_refused(tmp_path: Path, settings: dict[str, object], said: str) -> None:
    environment = Environment(settings={"root": str(tmp_path), **settings})  # type: ignore[dict-item]

    with pytest.raises(PackRefused, match=said):
        asyncio.run(ContextPack().open(environment))


@pytest.mark.slow
def test_a_served_search_finds_a_synonym(tmp_path: Path) -> None:
    make_cache(tmp_path / "root", {"health.md": "the physician visits", "baker.md": "a fresh loaf"}, "docs")
    settings = tmp_path / "strictwire.toml"
    folder = write_model(tmp_path / "model")
    text = f'[packs.context]\nroot = "{tmp_path / "root"}"\nsemantic_model = "{folder}"\n'
    settings.write_text(text, encoding="utf-8")
    call = modern(1, "tools/call", {"name": "context.search", "arguments": {"query": "doctor", "budget": 1000}})
    with StdioProcess("--pack=context", f"--config={settings}", env={"XDG_STATE_HOME": str(tmp_path / "state")}) as server:
        server.send(call)
        result = parse_object(server.line())["result"]

    assert [each["id"] for each in result["structuredContent"]["passages"]] == ["health.md"]
    assert "lexicalOnly" not in result["structuredContent"]["selection"]
    assert len(list((tmp_path / "state").rglob("*.vec"))) == 1

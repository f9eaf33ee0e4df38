"""The protocol decides and does nothing else: no clock, disk, network or randomness, no other package of ours."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import protocol

FOLDER = Path(protocol.__file__).parent
MODULES = sorted(FOLDER.glob("*.py"))
ALLOWED = {
    *(
        "base64",
        "binascii",
        "bisect",
        "collections",
        "dataclasses",
        "enum",
        "fractions",
        "functools",
        "hashlib",
        "hmac",
    ),
    *(
        "itertools",
        "json",
        "math",
        "re",
        "typing",
        "unicodedata",
        "cryptography",
        "nacl",
        "protocol",
    ),
}


def imported(tree: ast.AST) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            names.add((node.module or "").partition(".")[0])
    return names


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.stem)
def test_a_module_imports_only_what_computes(module: Path):
    assert imported(ast.parse(module.read_text("utf-8"))) <= ALLOWED


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.stem)
def test_a_module_neither_opens_nor_generates_nor_prints(module: Path):
    called = {
        node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        for node in ast.walk(ast.parse(module.read_text("utf-8")))
        if isinstance(node, ast.Call)
    }
    assert not called & {
        "open",
        "print",
        "input",
        "exec",
        "eval",
        "__import__",
        "generate",
        "generate_private_key",
        "urandom",
    }


def test_the_folder_is_flat_so_that_nothing_hides_below():
    assert [path for path in FOLDER.rglob("*.py") if path.parent != FOLDER] == []


def test_importing_it_all_brings_in_neither_agent_nor_aggregator():
    names = ", ".join(f"protocol.{path.stem}" for path in MODULES if path.stem != "__init__")
    script = (
        f"import sys, {names}; print([m for m in sys.modules if "
        f"m.split('.')[0] in ('agent', 'aggregator', 'httpx')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        cwd=FOLDER.parent,
    )
    assert done.stdout.strip() == "[]"

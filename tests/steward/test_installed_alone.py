"""The steward's tool in an environment of its own: few packages, and everything it needs among them."""

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.steward import hospital
from tests.steward.hospital import PASSWORD, Steward, chain

MAX_PACKAGES = 10
TOOL = hospital.ROOT / "deploy/steward"


@pytest.mark.full
def test_it_installs_from_a_clone_with_few_packages_and_works_there(tmp_path: Path) -> None:
    """With the extra for tokens. Fetches packages from the registry, as whoever installs it does."""
    clone = tmp_path / "clone"
    leave_out = shutil.ignore_patterns("__pycache__", "dist", "build")
    shutil.copytree(hospital.ROOT / "protocol", clone / "protocol", ignore=leave_out)
    shutil.copy(hospital.ROOT / "LICENSE", clone)
    shutil.copytree(TOOL, clone / "deploy/steward", ignore=leave_out)
    alone = {
        name: value
        for name, value in os.environ.items()
        if name not in {"PYTHONPATH", "REFUSED_CONNECTIONS"}
    }

    def run(*words: str | Path, answer: str = "") -> str:
        process = subprocess.run(
            [*map(str, words)],
            input=answer,
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env=alone,
            check=False,
        )
        assert process.returncode == 0, process.stdout + process.stderr
        return process.stdout

    environment = tmp_path / "venv"
    run(sys.executable, "-m", "venv", "--without-pip", environment)
    python, tool = environment / "bin/python", environment / "bin/intramural-steward"
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python]
    run(*pip, "install", "--quiet", f"{clone}/deploy/steward[pkcs11]")
    packages = {
        package["name"].lower() for package in json.loads(run(*pip, "list", "--format", "json"))
    }
    assert len(packages) <= MAX_PACKAGES, packages
    assert packages >= {"intramural-steward", "cryptography", "click", "python-pkcs11"}
    assert not packages & {"pydantic", "presidio-analyzer", "sqlalchemy", "intramural"}

    (tmp_path / "password").write_text(PASSWORD + "\n")
    (tmp_path / "password").chmod(0o600)
    made = run(tool, "key", "new", "--out", "own.key", "--password-file", "password")
    assert "fingerprint" in made
    steward = Steward(tmp_path)
    request = steward.ask(*chain())
    assert "bytes are signed and leave the site" in run(tool, "show", request, "--list", "list")
    run(tool, "show", request, "--list", "list", "--html", "page.html")
    run(
        tool,
        "approve",
        request,
        "--key",
        steward.key,
        "--out",
        "signed.json",
        "--list",
        "list",
        answer="y\ny\ny\n",
    )
    assert len(steward.signed()) == 3
    assert "3 decisions" in run(tool, "list", "--list", "list")
    run(python, "-c", "import intramural_steward.smart_cards, pkcs11")


def test_it_imports_nothing_but_the_protocol_and_its_few_packages() -> None:
    allowed = {
        "protocol",
        "intramural_steward",
        "click",
        "cryptography",
        "pkcs11",
        *sys.stdlib_module_names,
    }
    found: set[str] = set()
    for path in (TOOL / "intramural_steward").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                found.add(node.module.split(".")[0])
    assert found - allowed == set()


def test_it_opens_no_connection() -> None:
    """No module of it can: neither sockets nor a client are among its imports."""
    script = "import sys, intramural_steward.cli; print(sorted({'socket', 'ssl', 'http.client'} & set(sys.modules)))"
    paths = os.pathsep.join([str(TOOL), str(hospital.ROOT)])
    environment = {**os.environ, "PYTHONPATH": paths}
    assert (
        subprocess.check_output([sys.executable, "-c", script], text=True, env=environment).strip()
        == "[]"
    )

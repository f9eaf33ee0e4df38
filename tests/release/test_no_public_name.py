"""Nobody is told to install the project by name from a public registry, where a stranger may hold that name.

Reads every text of the repository: documents, messages, scripts, units and tests.
"""

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COMMAND = re.compile(
    r"\b(?:pipx|pip3?|uv pip|uv tool|uvx|uv add|poetry add)\s+(?:install\b|download\b|wheel\b)?[^\n`;|&]*"
)
BY_NAME = re.compile(
    r"""(?<![\w./-])['"]?intramural(?:-steward)?(?:\[[\w,{}]*\])?(?:[=<>~!]=?[\w.*]+)?(?![\w./-])"""
)
SELF = Path(__file__).relative_to(ROOT).as_posix()


def find_faults(text: str) -> list[str]:
    """Return the commands of a text that would ask a registry for the project's own name."""
    faults = []
    for number, part in enumerate(text.split("```")):
        lines = re.sub(r"\\\n\s*", " ", part)
        if number % 2 == 0:  # prose, where a command may go on in the next line
            lines = re.sub(r"(?<=\S)\n(?! *[-#|*\n])", " ", lines)
        for match in COMMAND.finditer(lines):
            if "--no-index" not in match[0] and BY_NAME.search(match[0]):
                faults.append(match[0])
    return faults


def list_messages(source: str) -> Iterator[str]:
    """Return the strings of a Python module, those in several parts as one."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        elif isinstance(node, ast.JoinedStr):
            yield "".join(
                str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values
            )


def list_files() -> list[str]:
    done = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [name for name in done.stdout.splitlines() if name != SELF and (ROOT / name).is_file()]


def test_no_document_and_no_message_installs_the_project_by_name_from_a_registry():
    faults = []
    for name in list_files():
        try:
            text = (ROOT / name).read_text("utf-8")
        except UnicodeDecodeError:
            continue
        if "intramural" not in text and "install" not in text:
            continue
        texts = list_messages(text) if name.endswith(".py") else [text]
        faults += [f"{name}: {fault}" for part in texts for fault in find_faults(part)]
    assert faults == []


@pytest.mark.parametrize(
    "text",
    [
        "pip install intramural",
        "Run `pip install 'intramural[parquet]'`.",
        "pip3 install --upgrade intramural==0.1.0",
        "python -m pip install \\\n    intramural",
        "Install it with pip install\n'intramural[parquet]' and go on",
        "pipx install intramural-steward",
        "uv tool install intramural",
        "uv add 'intramural[onnx]'",
    ],
)
def test_such_a_command_would_be_noticed(text: str):
    assert find_faults(text)


@pytest.mark.parametrize(
    "text",
    [
        "pip install '.[parquet]'",
        "pip install ./deploy/steward",
        "pip install --no-index --find-links wheelhouse 'intramural[parquet]'",
        "pip install --require-hashes -r deploy/locks/agent-py312.txt && /opt/intramural/bin/intramural --help",
        "/opt/intramural/bin/pip install -r requirements.txt",
    ],
)
def test_other_commands_are_none(text: str):
    assert find_faults(text) == []

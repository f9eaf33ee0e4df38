"""Running the commands of docs/keys.md as they stand there, in processes of their own."""

import re
import shlex
import subprocess
from collections.abc import Mapping
from pathlib import Path

from tests.forked import ROOT, run_command

PAGE = ROOT / "docs" / "keys.md"

_BLOCK = re.compile(r"<!-- drill: ([^>]+?) -->\n```sh\n(.*?)```", re.DOTALL)
BLOCKS = dict(_BLOCK.findall(PAGE.read_text("utf-8")))


def aggregator(
    board: Path | None, *words: object, folder: Path, answer: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run `intramural-aggregator WORDS` in `folder`, which has no aggregator's directory unless `board` is one."""
    directory = ["--dir", board] if board else []
    environment = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "HOME": str(folder)}
    return run_command(
        "aggregator", *directory, *words, folder=folder, typed=answer, environment=environment
    )


def run_block(
    name: str, board: Path | None, folder: Path, words: Mapping[str, object] | None = None
) -> str:
    """Run every line of a block in `folder`, answering yes; return all that was printed.

    `words` are put in the place of the words in capitals, for example KEY or INDEX.
    """
    printed = ""
    for line in BLOCKS[name].strip().splitlines():
        for word, value in (words or {}).items():
            line = re.sub(rf"\b{word}\b", str(value), line)
        program, *arguments = shlex.split(line)
        assert program == "intramural-aggregator", line
        done = aggregator(board, *arguments, folder=folder, answer="y\n" * 5)
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
        printed += done.stdout
    return printed

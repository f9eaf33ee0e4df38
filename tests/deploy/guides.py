"""The commands in the guides of deploy/, to be run word for word."""

import re
from pathlib import Path

DEPLOY = Path(__file__).parents[2] / "deploy"
_SECTION = re.compile(r"^## (.+)\n((?:(?!## ).*\n)*)", re.MULTILINE)
_COMMANDS = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def read_commands(guide: str, section: str) -> list[str]:
    """Return the blocks of commands in a section of a guide.

    Args:
        guide: its folder in deploy/.
        section: the section's heading.
    """
    sections = dict(_SECTION.findall((DEPLOY / guide / "README.md").read_text("utf-8")))
    blocks = _COMMANDS.findall(sections[section])
    assert blocks, f"deploy/{guide}/README.md has no commands under {section!r}"
    return list(blocks)

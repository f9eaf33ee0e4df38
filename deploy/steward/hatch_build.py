"""Puts the package `protocol` into the distribution: from the repository, or from an unpacked source distribution."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ProtocolHook(BuildHookInterface[Any]):
    """Includes the package whatever is built."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        """Name the folder that holds it; called by hatchling before it collects files."""
        here = Path(self.root)
        unpacked = here / "protocol"
        folder = unpacked if unpacked.is_dir() else here.parents[1] / "protocol"
        if not (folder / "statements.py").is_file():
            raise FileNotFoundError("the package `protocol` is neither here nor at the root of the repository")
        build_data["force_include"][str(folder)] = "protocol"

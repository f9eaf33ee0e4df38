"""Puts the package `protocol` and the licence into the distribution, which lie at the root of the repository."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ProtocolHook(BuildHookInterface[Any]):
    """Includes both, whatever is built."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        """Name where they lie; called by hatchling before it collects files."""
        included = build_data["force_include"]
        unpacked, repository = Path(self.root) / "protocol", Path(self.root).parents[1]
        if unpacked.is_dir():
            # An unpacked source distribution has both in their final places.
            included[str(unpacked)] = "protocol"
            return
        if not (repository / "protocol/statements.py").is_file():
            raise FileNotFoundError(
                "the package `protocol` is neither here nor at the root of the repository"
            )
        included[str(repository / "protocol")] = "protocol"
        included[str(repository / "LICENSE")] = "intramural_steward/LICENSE"

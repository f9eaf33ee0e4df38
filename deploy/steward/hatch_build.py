"""A build hook that adds the package `protocol` and the licence, from the root of the repository, to distributions."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ProtocolHook(BuildHookInterface[Any]):
    """A build hook that adds the package `protocol` and the licence to every distribution."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        """Register the paths to include. Called by hatchling before it collects files."""
        included = build_data["force_include"]
        unpacked, repository = Path(self.root) / "protocol", Path(self.root).parents[1]
        if unpacked.is_dir():
            # An unpacked source distribution already contains both in their final places.
            included[str(unpacked)] = "protocol"
            return
        if not (repository / "protocol/statements.py").is_file():
            raise FileNotFoundError(
                "the package `protocol` was not found here or at the root of the repository"
            )
        included[str(repository / "protocol")] = "protocol"
        included[str(repository / "LICENSE")] = "intramural_steward/LICENSE"

"""Read the files that a definition names, and compute the digest of everything that was read."""

import hashlib
from pathlib import Path

from agent.catalog.named_file import find_named_file, refuse_key_text
from agent.errors import BenchmarkError
from agent.io.small_file import decode_text, read_bytes
from agent.io.yaml_map import YamlMap


class DefinitionFiles:
    """Finds and reads the files that a definition names, and records problems at the key that names the file.

    Args:
        definition: the definition's YAML file, which is read first.
        absolute_paths: whether the definition may use absolute paths.
    """

    def __init__(self, definition: Path, absolute_paths: bool) -> None:
        self._folder = definition.parent
        self._absolute_paths = absolute_paths
        self._digests: list[bytes] = []
        self.definition = self._read(definition)

    def find(self, section: YamlMap, key: str) -> Path | None:
        """Return the file that a required key names, which need not exist."""
        name = section.name(key)
        try:
            return (
                find_named_file(name, self._folder, absolute=self._absolute_paths) if name else None
            )
        except BenchmarkError as why:
            section.note(key, str(why))
            return None

    def read_text(self, section: YamlMap, key: str) -> tuple[str, Path | None]:
        """Return the text and path of the small file that a required key names."""
        path = self.find(section, key)
        if path is None:
            return "", None
        try:
            data = self._read(path)
            text = decode_text(data, path, BenchmarkError)
            refuse_key_text(data)
        except BenchmarkError as why:
            section.note(key, str(why))
            return "", None
        if not text.strip():
            section.note(key, f"{path} is empty")
        return text, path

    def compute_digest(self) -> str:
        """Return the SHA-256 of the digests of all files, in the order in which they were read."""
        return hashlib.sha256(b"".join(self._digests)).hexdigest()

    def _read(self, path: Path) -> bytes:
        data = read_bytes(path, BenchmarkError)
        self._digests.append(hashlib.sha256(data).digest())
        return data

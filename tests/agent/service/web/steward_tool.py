"""The steward at a computer of their own: what the real tool does with a request, in a process of its own."""

import json
import os
from pathlib import Path

from agent.disclosure.site_gate import read_newest_registry
from agent.site.directory import Site
from tests.forked import ROOT, run_command

_PATHS = (str(ROOT / "deploy/steward"), str(ROOT))


class StewardTool:
    """Runs `intramural-steward` with a list of its own, which trusts the root key of the site's invite."""

    def __init__(self, folder: Path, invite: Path) -> None:
        self._folder = folder
        root = json.loads(invite.read_text())["root_keys"][0]
        self._listed = ("--list", str(folder / "list.jsonl"))
        self._root = ("--root", root)
        self._count = 0

    def approve(self, request: bytes, key: Path) -> bytes:
        """Return the signed drafts."""
        return self._decide(request, "approve", "--key", key, *self._root)

    def reject(self, request: bytes, reason: str, digest: str) -> bytes:
        """Return the rejection of one draft."""
        return self._decide(request, "reject", "--reason", reason, "--digest", digest, *self._root)

    def sign_request(self, request: bytes, key: Path) -> bytes:
        """Return a request about keys with this key's signature added."""
        return self._decide(request, "sign-request", "--key", key)

    def _decide(self, request: bytes, command: str, *words: str | Path) -> bytes:
        self._count += 1
        asked = self._folder / f"asked-{self._count}"
        decided = self._folder / f"decided-{self._count}"
        asked.write_bytes(request)
        line = [command, asked, *words, "--out", decided, *self._listed]
        done = run_command(
            "intramural_steward",
            *line,
            folder=self._folder,
            typed="y\n" * 20,
            environment={**os.environ, "PYTHONPATH": os.pathsep.join(_PATHS)},
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return decided.read_bytes()


def find_steward_keyid(site: Site) -> str:
    """Return the id of the site's only steward's key."""
    registry = read_newest_registry(site)
    assert registry is not None
    (entry,) = registry.sites.values()
    return next(key.key.keyid for key in entry.keys if key.role == "steward")

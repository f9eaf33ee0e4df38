"""Work for the actors of a test: it fails with a text, or ends its process."""

import os
import signal
from pathlib import Path
from typing import Any

from agent.redaction.files.piece_runner import PieceRunner


class Failing:
    """Raises an error that quotes a text, or ends its process, as its work says."""

    def __init__(self, canary: str) -> None:
        self._canary = canary

    def open(self) -> dict[str, Any]:
        return {}

    def run(self, number: int, kind: str) -> dict[str, Any]:
        if kind == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        if kind == "raise":
            raise KeyError(self._canary[::-1])
        return {"number": number}


class Dying(PieceRunner):
    """Redacts, but ends its process with each piece that holds a poisoned row."""

    def run(self, piece: tuple[int, int, int, int, int], name: str) -> dict[str, Any]:
        assert self._description is not None
        _, _, _, start, end = piece
        if b"poison" in Path(self._description.source).read_bytes()[start:end]:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().run(piece, name)

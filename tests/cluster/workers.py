"""Work for the actors of a test: it fails with a text, or ends its process."""

import os
import signal
from typing import Any


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

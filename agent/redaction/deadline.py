"""The time that one field may take, shared by all recognisers that look at it."""

import time


class Deadline:
    """Seconds left for the field in hand. Started anew for each field."""

    def __init__(self) -> None:
        self._end = 0.0

    def start(self, seconds: float) -> None:
        """Give the next field `seconds` from now."""
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        """Return the seconds left, above 0.

        Raises:
            TimeoutError: none are.
        """
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left

"""The time limit for one field, shared by all recognisers that analyse the field."""

import time


class Deadline:
    """The time left for the current field. Restarted for each field."""

    def __init__(self) -> None:
        self._end = 0.0

    def start(self, seconds: float) -> None:
        """Allow `seconds` from now for the next field."""
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        """Return the number of seconds left, which is positive.

        Raises:
            TimeoutError: no time is left.
        """
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left

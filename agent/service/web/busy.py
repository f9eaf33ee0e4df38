"""Work that one person starts from a page and that must not be done twice at the same time."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from agent.errors import BusyError


class BusyNames:
    """The names of what is being worked on now. For several threads.

    Args:
        words: what is being done, for whoever would start it again.
    """

    def __init__(self, words: str) -> None:
        self._words = words
        self._lock = threading.Lock()
        self._names: set[str] = set()

    @contextmanager
    def begin(self, name: str) -> Iterator[None]:
        """Keep others from starting the same during the `with` block.

        Raises:
            BusyError: it is being done already.
        """
        with self._lock:
            if name in self._names:
                raise BusyError(self._words, "Open the page again in a minute.")
            self._names.add(name)
        try:
            yield
        finally:
            with self._lock:
                self._names.discard(name)

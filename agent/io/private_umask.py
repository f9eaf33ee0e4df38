"""Files that a library creates, for their owner alone."""

import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def private_umask() -> Iterator[None]:
    """Let files and folders that are created in the `with` block, and by processes started in it, be private."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)

"""Passwords that take no time to hash, for tests of something else."""

import pytest
from argon2 import PasswordHasher

from agent.access import passwords

_QUICK = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
_NOTHING = _QUICK.hash("no account has this password")


def hash_quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hash with little time and memory in this process, until the end of the test."""
    monkeypatch.setattr(passwords, "_load_hasher", lambda: _QUICK)
    monkeypatch.setattr(passwords, "_hash_nothing", lambda: _NOTHING)

"""Encrypted local store, answer cache, retention."""

from agent.store.store import RETRIED, Run, Store, StoredInstance, UnitScore
from agent.store.vault import Vault

__all__ = ["RETRIED", "Run", "Store", "StoredInstance", "UnitScore", "Vault"]

"""Encrypted local store, answer cache, retention."""

from agent.store.store import Store
from agent.store.stored import RETRIED, Run, RunScore, StoredInstance, UnitScore, Usage
from agent.store.vault import Vault

__all__ = ["RETRIED", "Run", "RunScore", "Store", "StoredInstance", "UnitScore", "Usage", "Vault"]

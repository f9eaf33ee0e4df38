"""Digests used as identifiers: SHA-256 over canonical JSON with a tag, so that objects of two kinds never share one."""

import hashlib

from protocol.canonical import canonical

NONE = "none"  # written in place of a digest that does not exist


def tagged_digest(kind: str, value: object) -> str:
    """Return the hex SHA-256 of canonical JSON `["intramural/<kind>/v1", value]`."""
    return hashlib.sha256(canonical([f"intramural/{kind}/v1", value])).hexdigest()


def model_digest(name: str) -> str:
    """Return the digest of a registered model's name, for example `qwen/qwen2.5-7b-instruct`."""
    return tagged_digest("model", name)


def agent_digest(version: str) -> str:
    """Return the digest of an agent's version, for example `0.1.0`."""
    return tagged_digest("agent", version)

"""Digests that name things: SHA-256 over canonical JSON with a tag, so that no two kinds of thing share a digest."""

import hashlib

from protocol.canonical import canonical

NONE = "none"  # in the place of a digest: there is none


def tagged_digest(kind: str, value: object) -> str:
    """Return the hex SHA-256 of canonical JSON `["intramural/<kind>/v1", value]`."""
    return hashlib.sha256(canonical([f"intramural/{kind}/v1", value])).hexdigest()


def model_digest(name: str) -> str:
    """Return the digest of a registered model's name, for example `qwen/qwen2.5-7b-instruct`."""
    return tagged_digest("model", name)


def agent_digest(version: str) -> str:
    """Return the digest of an agent's version, for example `0.1.0`."""
    return tagged_digest("agent", version)

"""Signed refusals that lie in the outbox, and which of them still prove something."""

from agent.delivery.outbox import Outbox
from protocol.errors import ProtocolError
from protocol.refusal import verify_refusal
from protocol.registry import Registry


def collect_refusals(outbox: Outbox, registry: Registry) -> dict[str, bytes]:
    """Return the kept refusals that the registry's receipt key signed, by the digest of what was refused.

    Those of a key that was replaced since are left out: it may be a thief's, so that they prove nothing to a steward,
    whose tool would refuse every request with one.
    """
    proven = {}
    for digest, note in outbox.read_refusals().items():
        try:
            verify_refusal(
                note.decode("utf-8", "replace"), digest, registry.receipt_key, registry.log_name
            )
        except ProtocolError:
            continue
        proven[digest] = note
    return proven

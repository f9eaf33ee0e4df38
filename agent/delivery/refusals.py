"""The signed refusals in the outbox that can still be verified."""

from agent.delivery.outbox import Outbox
from protocol.errors import ProtocolError
from protocol.refusal import verify_refusal
from protocol.registry import Registry


def collect_refusals(outbox: Outbox, registry: Registry) -> dict[str, bytes]:
    """Return the stored refusals that the registry's receipt key signed, by the digest of the refused submission.

    Refusals signed by a replaced key are left out. That key may be in the hands of a thief, so such refusals prove
    nothing to a steward, whose tool rejects any request that contains one.
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

"""Heads of sites: signed notes with the last link of a site's chain and the head of its ledger (rule 8.8).

The aggregator's receipt key signs them. From a head, a machine that was restored from a backup learns which links it
has lost and where its reset must begin. A head is a C2SP signed note of nine lines: a first line that differs from
those of checkpoints and refusals; the site; epoch, seq and digest of its last link; length and head of its ledger of
releases; 1 if it is frozen, otherwise 0; and the size of the log.
"""

from dataclasses import dataclass

from protocol import schema
from protocol.checkpoint import parse_number
from protocol.errors import Code, ProtocolError
from protocol.keys import PublicKey, Signer
from protocol.predicates import LedgerHead
from protocol.signed_note import sign_note, verify_note

FIRST_LINE = "intramural/site-head/v1"
MAX_SITE_HEAD = 4096  # characters

_FLAGS = {"0": False, "1": True}


@dataclass(frozen=True, slots=True)
class SiteHead:
    """The state of one site in the log.

    Attributes:
        site: id of the site.
        epoch, seq, digest: the site's last link; seq is 0 if the current epoch has no link after its start.
        ledger: the ledger's head, as in the site's newest statement.
        frozen: whether a fork froze the current epoch; only a reset ends this.
        log_size: number of entries of the log; a head from a smaller log than one seen before is outdated.
    """

    site: str
    epoch: int
    seq: int
    digest: str
    ledger: LedgerHead
    frozen: bool
    log_size: int


def sign_site_head(head: SiteHead, origin: str, signer: Signer) -> str:
    """Return the signed note; the key name is the log's origin."""
    lines = (
        f"{FIRST_LINE} {origin}",
        head.site,
        str(head.epoch),
        str(head.seq),
        head.digest,
        str(head.ledger.length),
        head.ledger.head,
        "1" if head.frozen else "0",
        str(head.log_size),
    )
    note = sign_note("\n".join(lines) + "\n", origin, signer)
    verify_site_head(note, head.site, signer.public, origin)
    return note


def verify_site_head(note: str, site: str, receipt_key: PublicKey, origin: str) -> SiteHead:
    """Parse a site's head and verify that the receipt key signed it for `site`.

    Raises:
        ProtocolError: BAD_SITE_HEAD, WRONG_ORIGIN or BAD_SIGNATURE.
    """
    if len(note) > MAX_SITE_HEAD:
        raise ProtocolError(
            Code.BAD_SITE_HEAD, f"the head is longer than {MAX_SITE_HEAD} characters"
        )
    lines = verify_note(note, 9, receipt_key, origin, Code.BAD_SITE_HEAD)
    if lines[0] != f"{FIRST_LINE} {origin}":
        raise ProtocolError(Code.WRONG_ORIGIN, f"the note is not a head of a site of {origin}")
    if not schema.SITE.fullmatch(lines[1]) or lines[1] != site:
        raise ProtocolError(Code.BAD_SITE_HEAD, "the head is about another site")
    if lines[7] not in _FLAGS:
        raise ProtocolError(Code.BAD_SITE_HEAD, "expected 0 or 1 for frozen")
    return SiteHead(
        site=site,
        epoch=parse_number(lines[2], Code.BAD_SITE_HEAD),
        seq=parse_number(lines[3], Code.BAD_SITE_HEAD),
        digest=_parse_digest(lines[4]),
        ledger=LedgerHead(parse_number(lines[5], Code.BAD_SITE_HEAD), _parse_digest(lines[6])),
        frozen=_FLAGS[lines[7]],
        log_size=parse_number(lines[8], Code.BAD_SITE_HEAD),
    )


def _parse_digest(line: str) -> str:
    if not schema.HEX64.fullmatch(line):
        raise ProtocolError(Code.BAD_SITE_HEAD, "expected a digest of 64 hexadecimal digits")
    return line

"""Heads of sites: notes that say how far a site's chain and ledger have come (rule 8.8).

The aggregator's receipt key signs them. A machine that was restored from a back-up learns from it what it has lost,
and where its reset must begin. A C2SP signed note of nine lines: a first line that no checkpoint and no refusal has,
the site, the epoch, seq and digest of its last link, length and head of its ledger of releases, 1 or 0 for frozen or
not, and the size of the log.
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
    """What the log knows of one site.

    Attributes:
        site: its id.
        epoch, seq, digest: its last link; seq is 0 where the present epoch has no link after its start.
        ledger: as the site's newest statement gives it.
        frozen: whether a fork froze the present epoch, which only a reset ends.
        log_size: number of entries of the log; an answer from a smaller log than one seen before is outdated.
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
    """Read a site's head and verify that the receipt key signed it about `site`.

    Raises:
        ProtocolError: BAD_SITE_HEAD, WRONG_ORIGIN or BAD_SIGNATURE.
    """
    if len(note) > MAX_SITE_HEAD:
        raise ProtocolError(Code.BAD_SITE_HEAD, f"longer than {MAX_SITE_HEAD} characters")
    lines = verify_note(note, 9, receipt_key, origin, Code.BAD_SITE_HEAD)
    if lines[0] != f"{FIRST_LINE} {origin}":
        raise ProtocolError(Code.WRONG_ORIGIN, f"not a site's head of {origin}")
    if not schema.SITE.fullmatch(lines[1]) or lines[1] != site:
        raise ProtocolError(Code.BAD_SITE_HEAD, "about another site")
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

"""What a person sees before signing: one page, made from the exact bytes that would leave, and from nothing else.

The words are those of the steward's own tool (`protocol.describe`). Only the verdicts, which say why the gate decided
a figure as it did, come from a file beside the draft; they are shown as the gate's own word.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

from agent.delivery.outbox import LIVE, State, Submission
from agent.disclosure.findings import Extent
from agent.disclosure.verdicts import EXPLAINED, GateRule
from agent.errors import DisclosureError
from protocol.approval_files import NOTES
from protocol.capacity import Capacity, measure_capacity
from protocol.describe import describe_request, describe_statement
from protocol.description import Description, Knowledge
from protocol.errors import ProtocolError
from protocol.keys import Algorithm
from protocol.policy import DisclosurePolicy
from protocol.predicates import RotatePredicate
from protocol.registry import Registry, Site
from protocol.scorecard import Scorecard

_READABLE = frozenset({*LIVE, State.PREPARED})


@dataclass(frozen=True, slots=True)
class GateWord:
    """Why the gate decided one cell as it did, and how much of the data was asked where it was not all."""

    cell: str
    word: str


@dataclass(frozen=True, slots=True)
class Page:
    """Everything that a person needs to decide about one statement.

    Attributes:
        state: of the submission.
        signed_by: role and key id of each signature.
        description: what the bytes say.
        gate_words: the gate's own word on each cell of a result; empty for other kinds.
        capacity: how much a result could tell at most; None for other kinds.
    """

    state: str
    signed_by: tuple[str, ...]
    description: Description
    gate_words: tuple[GateWord, ...] = ()
    capacity: Capacity | None = None

    def to_json(self) -> dict[str, object]:
        """Return the page as one record; the fields of the description stand beside the page's own."""
        return {
            **asdict(self.description),
            "state": self.state,
            "signed_by": list(self.signed_by),
            "gate_words": {word.cell: word.word for word in self.gate_words},
            "capacity": asdict(self.capacity) if self.capacity else None,
        }


def make_page(
    submission: Submission,
    registry: Registry,
    own_policy: DisclosurePolicy,
    verdicts: Mapping[str, Any],
    others: Sequence[Submission],
) -> Page:
    """Return the page of one submission.

    Args:
        submission: read from its file.
        registry: verified; names of everything come from here.
        own_policy: the site's.
        verdicts: what the gate keeps beside a draft.
        others: the site's submissions; those before this one in the chain are what it is compared with.

    Raises:
        DisclosureError: it names something that the registry lacks, so it cannot be shown faithfully.
    """
    earlier = {
        s.digest: s.statement for s in others if s.state in _READABLE and s.place < submission.place
    }
    knowledge = Knowledge(registry, own_policy, earlier, read_notes(verdicts))
    try:
        if isinstance(submission.statement, RotatePredicate):
            description = describe_request(submission.payload)
        else:
            description = describe_statement(submission.payload, knowledge)
    except ProtocolError as error:
        raise DisclosureError(
            f"submission {submission.digest[:12]} cannot be shown faithfully ({error.code}: {error.detail})",
            "Run `intramural registry update`; a draft is then prepared again.",
        ) from None
    site = registry.sites.get(submission.header.site)
    page = Page(submission.state.value, _name_signers(submission, site), description)
    if not submission.is_result:
        return page
    card = registry.scorecards[submission.result.scorecard].scorecard
    words = tuple(
        GateWord(cell.key, _gate_word(cell.key, cell.benchmark, verdicts)) for cell in card.cells
    )
    # Of the site's own and the registered policy the stricter one is applied; the bits are counted for the latter
    # alone, which can only give more of them.
    policy = registry.policy_for(submission.result.policy)
    capacity = _measure_capacity(card, policy, _algorithms_in_force(site))
    return Page(page.state, page.signed_by, description, words, capacity)


def read_notes(verdicts: Mapping[str, Any]) -> dict[str, int]:
    """Return the exact figures that the site tells its steward about a draft, from the file beside it."""
    notes = verdicts.get("notes")
    if not isinstance(notes, dict):
        return {}
    return {name: notes[name] for name in NOTES if type(notes.get(name)) is int}


def _name_signers(submission: Submission, site: Site | None) -> tuple[str, ...]:
    roles = {entry.key.keyid: entry.role for entry in (site.keys if site else ())}
    signatures = submission.envelope.signatures
    return tuple(
        f"{roles.get(signature.keyid, 'unknown key')} {signature.keyid}" for signature in signatures
    )


def _algorithms_in_force(site: Site | None) -> tuple[Algorithm, ...]:
    keys = site.keys if site else ()
    return tuple(
        entry.key.algorithm
        for entry in keys
        if entry.until_index is None and entry.revoked_from is None
    )


@lru_cache(maxsize=8)
def _measure_capacity(
    scorecard: Scorecard, policy: DisclosurePolicy, signers: tuple[Algorithm, ...]
) -> Capacity:
    """Return the bits of a signed statement; the same for all pages of a scorecard."""
    return measure_capacity(scorecard, policy, signers)


def _gate_word(key: str, benchmark: str, verdicts: Mapping[str, Any]) -> str:
    rule = _find_verdict(verdicts, "cells", key)
    if not isinstance(rule, str) or rule not in set(GateRule):
        return "unknown"
    match _find_verdict(verdicts, "data", benchmark):
        # Anything but numbers and known words is left out: the file may have been changed.
        case {"known": str(known), "asked": int(asked), "available": int(available)} if (
            rule != GateRule.NOT_RUN
        ):
            return f"{EXPLAINED[GateRule(rule)]}; {Extent(known, asked, available)}"
    return EXPLAINED[GateRule(rule)]


def _find_verdict(verdicts: Mapping[str, Any], part: str, key: str) -> object:
    entries = verdicts.get(part)
    return entries.get(key) if isinstance(entries, dict) else None

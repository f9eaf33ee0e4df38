"""The page that a person sees before signing, generated from the exact bytes that would leave the site.

It uses the same descriptions as the steward's own tool (`protocol.describe`). Only the gate's verdicts, which explain
its decisions, come from another file, and the page marks them as the gate's own statements.
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
    """The gate's verdict on one cell, in words. Also says how much of the data was run, unless it was all of it."""

    cell: str
    word: str


@dataclass(frozen=True, slots=True)
class Page:
    """The information that a person needs to decide about one statement.

    Attributes:
        state: state of the submission.
        signed_by: role and key id of each signature.
        description: description of the signed bytes.
        gate_words: the gate's explanation of each cell of a result; empty for other kinds.
        capacity: maximum amount of information that a result could reveal; None for other kinds.
    """

    state: str
    signed_by: tuple[str, ...]
    description: Description
    gate_words: tuple[GateWord, ...] = ()
    capacity: Capacity | None = None

    def to_json(self) -> dict[str, object]:
        """Return the page as one record, with the fields of the description at the top level."""
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
        submission: the submission, as read from its file.
        registry: the verified registry, from which all names come.
        own_policy: the site's own policy.
        verdicts: content of the submission's verdict file.
        others: the site's submissions; the submission is compared with the earlier ones in the chain.

    Raises:
        DisclosureError: the submission refers to something that the registry lacks, so it cannot be shown faithfully.
    """
    earlier = {
        other.digest: other.statement
        for other in others
        if other.state in _READABLE and other.place < submission.place
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
            "Run `intramural registry update`, then prepare the draft again.",
        ) from None
    site = registry.sites.get(submission.header.site)
    page = Page(submission.state.value, _name_signers(submission, site), description)
    if not submission.is_result:
        return page
    card = registry.scorecards[submission.result.scorecard].scorecard
    words = tuple(
        GateWord(cell.key, _gate_word(cell.key, cell.benchmark, verdicts)) for cell in card.cells
    )
    # The gate applied the stricter of the site's own and the registered policy. The capacity is computed for the
    # registered policy, which can only overstate it.
    policy = registry.policy_for(submission.result.policy)
    capacity = _measure_capacity(card, policy, _algorithms_in_force(site))
    return Page(page.state, page.signed_by, description, words, capacity)


def read_notes(verdicts: Mapping[str, Any]) -> dict[str, int]:
    """Return the exact numbers that the site tells its steward about a draft, from its verdict file."""
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
    """Return the capacity of a signed result, which is the same for all pages of a scorecard."""
    return measure_capacity(scorecard, policy, signers)


def _gate_word(key: str, benchmark: str, verdicts: Mapping[str, Any]) -> str:
    rule = _find_verdict(verdicts, "cells", key)
    if not isinstance(rule, str) or rule not in set(GateRule):
        return "unknown"
    match _find_verdict(verdicts, "data", benchmark):
        # Only numbers and known words are shown, since the file may have been changed.
        case {"known": str(known), "asked": int(asked), "available": int(available)} if (
            rule != GateRule.NOT_RUN
        ):
            return f"{EXPLAINED[GateRule(rule)]}; {Extent(known, asked, available)}"
    return EXPLAINED[GateRule(rule)]


def _find_verdict(verdicts: Mapping[str, Any], part: str, key: str) -> object:
    entries = verdicts.get(part)
    return entries.get(key) if isinstance(entries, dict) else None

"""Reading and verification of the files that a site gives to its steward."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from intramural_steward.approval_list import RegistryMark
from intramural_steward.errors import RequestError
from protocol import envelope
from protocol.approval_files import AuditHead, read_approval_request
from protocol.canonical import parse
from protocol.envelope import REGISTRY_TYPE, Envelope
from protocol.errors import Code, ProtocolError
from protocol.keys import PublicKey, load_public
from protocol.policy import DisclosurePolicy
from protocol.predicates import (
    EnrollPredicate,
    PlanPredicate,
    ResetPredicate,
    ResultPredicate,
    RotatePredicate,
    Statement,
)
from protocol.refusal import verify_refusal
from protocol.registry import Registry, RootPins, load_registry, parse_registry
from protocol.statements import kind_name, parse_statement
from protocol.verification import DAY_WINDOW, check_context

_ABOUT_KEYS: Final = (EnrollPredicate, ResetPredicate, RotatePredicate)


@dataclass(frozen=True, slots=True)
class Draft:
    """A statement signed by the site's agent.

    `data` is its envelope file. `notes` are additional figures stated by the site.
    """

    data: bytes
    opened: Envelope
    statement: Statement
    notes: dict[str, int]

    @property
    def digest(self) -> str:
        """The statement's digest."""
        return self.opened.digest


@dataclass(frozen=True, slots=True)
class SiteRequest:
    """A verified request for approval.

    Attributes:
        registry: The registry, signed by `signers`, which are among its root keys.
        mark: The registry as recorded on the list.
        policy: The site's own policy, as stated by the site.
        drafts: Drafts of one site, in the order of its chain.
        audit_head: Head of the site's audit log, as stated by the site.
        refused: Digests of earlier statements that the aggregator has refused in notes signed with
            the receipt key.
    """

    registry: Registry
    signers: tuple[PublicKey, ...]
    mark: RegistryMark
    policy: DisclosurePolicy
    drafts: tuple[Draft, ...]
    audit_head: AuditHead
    refused: frozenset[str]

    @property
    def site(self) -> str:
        """The id of the requesting site."""
        return self.drafts[0].statement.header.site


@dataclass(frozen=True, slots=True)
class KeyRequest:
    """A request about keys (an enrolment, reset or rotation) with its signatures so far."""

    data: bytes
    opened: Envelope
    statement: EnrollPredicate | ResetPredicate | RotatePredicate

    @property
    def digest(self) -> str:
        """The statement's digest."""
        return self.opened.digest


def is_single_statement(data: bytes) -> bool:
    """Return whether a file is a single envelope, like a request about keys, rather than a request for approval."""
    try:
        found = parse(data)
    except ProtocolError:
        return False
    return isinstance(found, dict) and "payloadType" in found


def read_deployment(data: bytes) -> str:
    """Return the aggregator that a request claims to be for, without verifying it.

    Raises:
        RequestError: the file is not a request for approval.
    """
    try:
        opened = envelope.decode(read_approval_request(data).registry, REGISTRY_TYPE)
        return parse_registry(opened.payload).deployment
    except ProtocolError as error:
        raise _refusal(error) from None


def open_request(
    data: bytes, roots: Collection[str], threshold: int, today_day: int
) -> SiteRequest:
    """Parse a request for approval and verify everything in it.

    Args:
        data: Content of the file.
        roots: Key ids of root keys, `threshold` of which must have signed the registry. If empty,
            the registry's own root keys are trusted, and the steward must compare
            `SiteRequest.signers`.
        threshold: From 1 to the number of `roots`.
        today_day: days since 1970-01-01 UTC.

    Raises:
        RequestError: the request is damaged, or something in it lacks the required signature.
    """
    try:
        form = read_approval_request(data)
        opened = envelope.decode(form.registry, REGISTRY_TYPE)
        claimed = parse_registry(opened.payload)
        pins = RootPins(
            claimed.deployment, frozenset(key.keyid for key in claimed.roots), claimed.threshold
        )
        if roots:
            pins = RootPins(claimed.deployment, frozenset(roots), threshold)
        registry = load_registry(form.registry, pins, today_day)
        drafts = tuple(
            _open_draft(draft.envelope, dict(draft.notes), registry, today_day)
            for draft in form.drafts
        )
        for digest, note in form.refusals.items():
            verify_refusal(
                note.decode("utf-8", "replace"), digest, registry.receipt_key, registry.log_name
            )
    except ProtocolError as error:
        raise _refusal(error) from None
    if len({draft.statement.header.site for draft in drafts}) != 1:
        raise RequestError("the request contains drafts of several sites")
    places = [(draft.statement.header.epoch, draft.statement.header.seq) for draft in drafts]
    if places != sorted(set(places)):
        raise RequestError("the drafts are not in the order of the site's chain")
    signed_by = {signature.keyid for signature in opened.signatures}
    return SiteRequest(
        registry=registry,
        signers=tuple(key for key in registry.roots if key.keyid in signed_by),
        mark=RegistryMark(
            registry.version,
            opened.digest,
            tuple(key.keyid for key in registry.roots),
            registry.threshold,
        ),
        policy=form.policy,
        drafts=drafts,
        audit_head=form.audit_head,
        refused=frozenset(form.refusals),
    )


def open_key_request(data: bytes) -> KeyRequest:
    """Parse a request about keys, and verify the signatures of the keys that it names.

    Raises:
        RequestError: the file is not a request about keys, or the agent has not signed it.
    """
    try:
        opened = envelope.decode(data)
        statement = parse_statement(opened.payload)
        if not isinstance(statement, _ABOUT_KEYS):
            raise RequestError(
                f"this is a single {kind_name(statement)} statement, which cannot be reviewed on its own",
                "Nothing was signed. Ask the site for a request for approval, which contains the registry.",
            )
        named = _named_keys(statement)
        for signature in opened.signatures:
            if signature.keyid in named:
                named[signature.keyid].verify(signature.sig, opened.pae)
    except ProtocolError as error:
        raise _refusal(error) from None
    if isinstance(statement, EnrollPredicate | ResetPredicate):
        agent = load_public(statement.agent_key)
        if len(named) != 2 or {signature.keyid for signature in opened.signatures} - named.keys():
            raise RequestError(
                "the request names a key twice, or is signed with a key that it does not name"
            )
        if agent.keyid not in {signature.keyid for signature in opened.signatures}:
            raise RequestError("the site's agent has not signed the request")
    return KeyRequest(data, opened, statement)


def _named_keys(
    statement: EnrollPredicate | ResetPredicate | RotatePredicate,
) -> dict[str, PublicKey]:
    if isinstance(statement, RotatePredicate):
        keys = [load_public(statement.new_key)]
    else:
        keys = [load_public(statement.agent_key), load_public(statement.steward_key)]
    return {key.keyid: key for key in keys}


def _open_draft(data: bytes, notes: dict[str, int], registry: Registry, today_day: int) -> Draft:
    opened = envelope.decode(data)
    statement = parse_statement(opened.payload)
    if isinstance(statement, _ABOUT_KEYS):
        raise ProtocolError(
            Code.WRONG_TYPE,
            "one of the drafts is a request about keys, which must be signed separately",
        )
    header = statement.header
    site = registry.sites.get(header.site)
    if site is None:
        raise ProtocolError(Code.WRONG_SITE, f"{header.site} is not enrolled in this registry")
    agents = active_keys(registry, header.site, "agent")
    if len(opened.signatures) != 1:
        raise ProtocolError(Code.UNKNOWN_KEY, "expected only the signature of the site's agent")
    opened.verify(agents)
    check_context(header, registry)
    if header.epoch != site.epoch:
        raise ProtocolError(
            Code.WRONG_EPOCH,
            f"the draft is for epoch {header.epoch}, but the registry has epoch {site.epoch}",
        )
    if header.seq == 1 and header.prev != site.start:
        raise ProtocolError(
            Code.WRONG_PREV, "link 1 does not follow the start of the epoch that the registry names"
        )
    if isinstance(statement, ResultPredicate) and not 0 <= today_day - statement.day < DAY_WINDOW:
        raise ProtocolError(
            Code.WRONG_DAY, f"the result is of day {statement.day}, but today is day {today_day}"
        )
    if (
        isinstance(statement, PlanPredicate)
        and not 0 <= statement.expires_day - today_day < DAY_WINDOW
    ):
        raise ProtocolError(
            Code.WRONG_DAY,
            f"the plan ends on day {statement.expires_day}, but today is day {today_day}",
        )
    return Draft(data, opened, statement, notes)


def active_keys(registry: Registry, site: str, role: str) -> dict[str, PublicKey]:
    """Return a site's keys for a role that have not ended according to the registry, by key id."""
    entry = registry.sites.get(site)
    keys: dict[str, PublicKey] = {}
    for key in entry.keys if entry else ():
        if key.role == role and key.until_index is None and key.revoked_from is None:
            keys[key.key.keyid] = key.key
    return keys


def _refusal(error: ProtocolError) -> RequestError:
    advice = RequestError.advice
    if error.code is Code.UNDER_THRESHOLD:
        advice = (
            "Nothing was signed. The registry is not signed by the root keys that you specified or that your list "
            "contains. Ask the central team by telephone for the fingerprints of its root keys. Only if "
            "the keys have changed, specify the new ones with --root."
        )
    return RequestError(f"the file is not valid ({error.code}: {error.detail})", advice)

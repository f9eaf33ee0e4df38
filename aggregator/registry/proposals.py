"""Drafts of the next registry version: composed, signed by the root keys, and put in force.

If one root key on this machine suffices, all of this happens in one transaction (`change_now`). With several root keys
on different machines, a draft is sent to each machine (`draft_file`), signed there and returned. The log may grow
meanwhile. The draft is refused if the registry has changed since, or the key chain of a site whose request it contains.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlalchemy import Connection, delete, select, update

from aggregator.errors import EnrolmentError, RegistryError
from aggregator.home import Home
from aggregator.log import journal
from aggregator.log.journal import Link
from aggregator.log.restored import refuse_restored
from aggregator.registry.changes import Additions, apply
from aggregator.registry.explanations import check_expiry, check_sizes, explain_requests
from aggregator.registry.handovers import hand_over_log, sign_refusals_again
from aggregator.registry.invites import PendingRequest, check_enrolment, open_request
from aggregator.registry.rekeyings import PendingRekeying, reopen_request
from aggregator.registry.versions import (
    newest_envelope,
    newest_registry,
    put_in_force,
    sign_version,
)
from aggregator.store.schema import enrolment_requests, invites, rekeying_requests
from protocol.checkpoint import LogKey
from protocol.envelope import decode
from protocol.errors import ProtocolError
from protocol.keys import PublicKey, Signer
from protocol.predicates import EnrollPredicate
from protocol.registry import (
    KeyGroup,
    NamedKey,
    Publication,
    Registry,
    Site,
    SiteKey,
    step_registry,
)
from protocol.rekeying import site_after
from protocol.statements import parse_statement


@dataclass(frozen=True, slots=True)
class GroupChange:
    """A change of the auditors or of the witnesses: keys to add, names to remove, and a new threshold, if any."""

    added: Sequence[NamedKey] = ()
    removed: Sequence[str] = ()
    threshold: int | None = None


@dataclass(frozen=True, slots=True)
class Changes:
    """The changes that turn one registry version into the next.

    Attributes:
        enrolments, rekeyings: requests that a person has approved after comparing fingerprints.
        revoked: key id of a site's key -> index of the first log entry for which its signature no longer counts.
        ended: key ids of sites' keys that may sign nothing from now on; earlier statements signed by them remain.
        publications, names: new values by site id.
        leaving: ids of sites all of whose keys end now; their results remain.
        removed_roots: key ids of root keys to remove.
        log_key: the key that replaces the current log key.
        log_key_from: size of the log from which the new log key signs; None for the next entry. It is smaller if the
            old key was stolen some time ago; then all checkpoints since that size are signed again.
    """

    enrolments: Sequence[PendingRequest] = ()
    rekeyings: Sequence[PendingRekeying] = ()
    additions: Additions = field(default_factory=Additions)
    revoked: Mapping[str, int] = field(default_factory=dict)
    ended: Sequence[str] = ()
    publications: Mapping[str, Publication] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    leaving: Sequence[str] = ()
    new_roots: Sequence[PublicKey] = ()
    removed_roots: Sequence[str] = ()
    threshold: int | None = None
    auditors: GroupChange = GroupChange()
    witnesses: GroupChange = GroupChange()
    log_key: PublicKey | None = None
    log_key_from: int | None = None
    receipt_key: PublicKey | None = None


@dataclass(frozen=True, slots=True)
class Proposal:
    """A registry version that waits for its signatures.

    Attributes:
        base: the signed file of the version that it follows.
        log_size: size of the log when the proposal was composed.
        registry: the new version.
        requests: the requests that it implements, as received, in the order in which they will be logged.
    """

    base: bytes
    log_size: int
    registry: Registry
    requests: tuple[bytes, ...]


def compose(connection: Connection, changes: Changes, *, expires_day: int) -> Proposal:
    """Apply all `changes` to the newest version and return the result; nothing is stored.

    Raises:
        EnrolmentError: a request cannot be granted.
        RegistryError: a change names something that does not exist, or contradicts another change.
    """
    base = newest_envelope(connection)
    before = newest_registry(connection)
    log_size = journal.size(connection)
    sites = dict(before.sites)
    requests = []
    for request in changes.enrolments:
        check_enrolment(connection, before, request)
        sites[request.site] = _make_site(request, log_size)
        requests.append(request.envelope)
    for rekeying in changes.rekeyings:
        reopen_request(connection, rekeying.envelope)
        _refuse_stolen_rotation(rekeying, changes)
        sites[rekeying.site_id] = site_after(
            before.sites[rekeying.site_id], rekeying.rekeying, log_size
        )
        requests.append(rekeying.envelope)
    asked = [request.site for request in changes.enrolments] + [
        asked.site_id for asked in changes.rekeyings
    ]
    if len(set(asked)) != len(asked):
        raise RegistryError(
            "two requests by one site cannot come into force together", "Choose one of them."
        )
    _restrict_keys(sites, changes, log_size)
    _describe_sites(connection, sites, changes)
    after = apply(replace(before, sites=sites), changes.additions)
    after = _change_central_keys(after, changes, log_size)
    after = replace(after, version=before.version + 1, expires_day=expires_day)
    return Proposal(base, log_size, after, tuple(requests))


def _refuse_stolen_rotation(request: PendingRekeying, changes: Changes) -> None:
    """Refuse a rotation signed by a key that the same version revokes: the thief may have made the request."""
    signers = {entry.key.keyid for entry in request.site.keys if entry.until_index is None}
    revoked = sorted(signers & changes.revoked.keys())
    if request.kind == "rotate" and revoked:
        raise RegistryError(
            f"site {request.site_id} asks to replace a key, but its request is signed by key {revoked[0][:16]}, which "
            "this change revokes",
            "Nothing was changed. After a theft the site must start a new epoch: `intramural reset request`.",
        )


def _make_site(request: PendingRequest, log_size: int) -> Site:
    first = request.enrolment
    keys = (
        SiteKey(first.agent, "agent", from_index=log_size),
        SiteKey(first.steward, "steward", from_index=log_size),
    )
    # The registry and the log are public. They show a pooled site only under its id.
    shown_as = request.display_name if request.publication == "named" else request.site
    return Site(shown_as, request.publication, first.digest, keys)


def _restrict_keys(sites: dict[str, Site], changes: Changes, log_size: int) -> None:
    """Revoke and end keys in `sites`."""
    owners = {entry.key.keyid: site_id for site_id, site in sites.items() for entry in site.keys}
    for keyid in (*changes.revoked, *changes.ended):
        if keyid not in owners:
            raise RegistryError(
                f"no site has the key {keyid[:16]}", "`list keys` shows every key of every site."
            )
    for keyid, index in changes.revoked.items():
        if index > log_size:
            raise RegistryError(
                f"key {keyid[:16]} cannot be revoked from log entry {index} on; the log has "
                f"{log_size} {'entry' if log_size == 1 else 'entries'}",
                f"Specify the first log entry that the site did not create, or {log_size} for the next entry.",
            )
        site = sites[owners[keyid]]
        keys = [
            replace(entry, revoked_from=_earlier(entry.revoked_from, index))
            if entry.key.keyid == keyid
            else entry
            for entry in site.keys
        ]
        sites[owners[keyid]] = replace(site, keys=tuple(keys))
    for site_id in changes.leaving:
        _require_site(sites, site_id)
    for site_id, site in sites.items():
        keys = []
        for entry in site.keys:
            if entry.key.keyid in changes.ended or site_id in changes.leaving:
                keys.append(replace(entry, until_index=_earlier(entry.until_index, log_size)))
            else:
                keys.append(entry)
        if tuple(keys) != site.keys:
            sites[site_id] = replace(site, keys=tuple(keys))


def _earlier(before: int | None, index: int) -> int:
    return index if before is None else min(before, index)


def _describe_sites(connection: Connection, sites: dict[str, Site], changes: Changes) -> None:
    """Change publication and name of sites. The name of a pooled site is stored in the database only."""
    for site_id in (*changes.publications, *changes.names):
        _require_site(sites, site_id)
    for site_id in {**changes.publications, **changes.names}:
        site = sites[site_id]
        publication = changes.publications.get(site_id, site.publication)
        if site_id in changes.names and publication == "pooled":
            raise RegistryError(
                f"site {site_id} is pooled, so registry and board show it under its id, without a name",
                "Nothing was changed. Omit --rename, or make the site named.",
            )
        name = changes.names.get(site_id) or _known_name(connection, site_id) or site.display_name
        shown_as = name if publication == "named" else site_id
        sites[site_id] = replace(site, publication=publication, display_name=shown_as)


def _known_name(connection: Connection, site_id: str) -> str | None:
    name: str | None = connection.execute(
        select(invites.c.display_name).where(invites.c.site == site_id)
    ).scalar_one_or_none()
    return name


def _require_site(sites: Mapping[str, Site], site_id: str) -> None:
    if site_id not in sites:
        raise RegistryError(f"there is no site {site_id}", "`list sites` shows every site.")


def _change_central_keys(registry: Registry, changes: Changes, log_size: int) -> Registry:
    for key in (
        *changes.new_roots,
        *(entry.key for entry in (*changes.auditors.added, *changes.witnesses.added)),
    ):
        _refuse_held_key(registry, key)
    roots = tuple(key for key in registry.roots if key.keyid not in changes.removed_roots) + tuple(
        changes.new_roots
    )
    unknown = set(changes.removed_roots) - {key.keyid for key in registry.roots}
    if unknown:
        raise RegistryError(
            f"{unknown.pop()[:16]} is not a root key", "`list keys` shows the root keys."
        )
    threshold = registry.threshold if changes.threshold is None else changes.threshold
    if not 1 <= threshold <= len(roots):
        raise RegistryError(
            f"{threshold} root keys would have to sign, but there would be only {len(roots)}",
            "Nothing was changed. Give another --threshold, or more roots.",
        )
    log_keys = registry.log_keys
    if changes.log_key is not None:
        log_keys = _replace_log_key(log_keys, changes.log_key, changes.log_key_from, log_size)
    return replace(
        registry,
        roots=roots,
        threshold=threshold,
        auditors=_change_group(registry.auditors, changes.auditors, "auditor"),
        witnesses=_change_group(registry.witnesses, changes.witnesses, "witness"),
        log_keys=log_keys,
        receipt_key=registry.receipt_key if changes.receipt_key is None else changes.receipt_key,
    )


def _refuse_held_key(registry: Registry, key: PublicKey) -> None:
    if registry.holds(key.keyid):
        raise RegistryError(
            f"key {key.keyid[:16]} is already in the registry",
            "Nothing was changed. A key can have only one role; create another with `registry new-key`. `list keys` "
            "shows the owner of this one.",
        )


def _replace_log_key(
    log_keys: tuple[LogKey, ...], new: PublicKey, from_size: int | None, log_size: int
) -> tuple[LogKey, ...]:
    """Return the keys with a new key appended. Old and new key both sign the checkpoint just before its first size."""
    start = from_size
    if start is None:
        start = log_size + 1 if log_size else 0
    if not min(1, log_size) <= start <= log_size + 1:
        raise RegistryError(
            f"a new log key cannot begin at size {start}, as the log has size {log_size}",
            f"Nothing was changed. Set --log-key-from to a size from 1 to {log_size + 1}, or omit it.",
        )
    kept = []
    for entry in log_keys:
        if entry.from_size >= start:
            continue  # the new key signs all its sizes again
        ends = (
            entry.until_size if entry.until_size is not None and entry.until_size < start else start
        )
        kept.append(replace(entry, until_size=ends))
    return (*kept, LogKey(new, start))


def _change_group(group: KeyGroup, change: GroupChange, kind: str) -> KeyGroup:
    names = {entry.name for entry in group.keys}
    for name in change.removed:
        if name not in names:
            raise RegistryError(f"there is no {kind} {name!r}", "`list keys` shows the names.")
    for entry in change.added:
        if entry.name in names - set(change.removed):
            raise RegistryError(
                f"{kind} {entry.name} already has a key",
                f"Nothing was changed. To replace it, give --remove-{kind} {entry.name} too.",
            )
    keys = tuple(entry for entry in group.keys if entry.name not in change.removed) + tuple(
        change.added
    )
    threshold = group.threshold if change.threshold is None else change.threshold
    if change.threshold is None:
        threshold = max(min(1, len(keys)), min(threshold, len(keys)))
    if threshold > len(keys):
        plural = {"auditor": "auditors", "witness": "witnesses"}[kind]
        raise RegistryError(
            f"{threshold} of the {plural} would have to sign, but there would be only {len(keys)}",
            f"Nothing was changed. Give another --{kind}-threshold, or more {plural}.",
        )
    return KeyGroup(threshold, keys)


def change_now(connection: Connection, home: Home, changes: Changes, *, today_day: int) -> Registry:
    """Compose and sign a version with the only root key on this machine, and put it in force.

    Runs in the caller's transaction. Call it after a person has compared the fingerprints of all new keys.

    Raises:
        EnrolmentError: as `compose`.
        RegistryError: as `compose`, or several roots must sign.
        KeyFileError: the root key is not here.
    """
    before = newest_registry(connection)
    root = find_root(home, before)
    proposal = compose(connection, changes, expires_day=today_day + home.settings.registry_days)
    envelope = sign_version(proposal.registry, before, [root])
    return commit(connection, home, proposal, envelope, today_day=today_day)


def find_root(home: Home, registry: Registry) -> Signer:
    """Return the root key on this machine, which may change a registry alone.

    Commands call this before they ask a person for input, so that the work is not refused at its end.

    Raises:
        RegistryError: several root keys must sign.
        KeyFileError: the root key is not here.
    """
    if registry.threshold > 1:
        raise RegistryError(
            f"{registry.threshold} root keys must sign a change of this registry",
            "Nothing was changed. Use `registry propose`, have the roots sign with `registry sign`, then "
            "`registry commit`.",
        )
    return home.root_signer(registry)


def commit(
    connection: Connection, home: Home, proposal: Proposal, envelope: bytes, *, today_day: int
) -> Registry:
    """Put a signed version in force: log its requests, hand over the log's key and store it.

    Args:
        connection: the caller's writing transaction.
        home: the aggregator's directory, with the log's key.
        proposal: the proposal as composed.
        envelope: the signed file of `proposal.registry`.
        today_day: days since 1970-01-01 UTC.

    Raises:
        RegistryError: too few roots signed it, or the registry has changed since it was composed.
        EnrolmentError: a request no longer fits its site's state in the log.
    """
    before = newest_registry(connection)
    # An outdated copy would sign a second version with a number that sites already know.
    refuse_restored(connection)
    refuse_outdated(connection, proposal)
    try:
        after = step_registry(envelope, before)
    except ProtocolError as error:
        raise RegistryError(
            f"the registry would not be accepted: {error.detail} ({error.code})"
        ) from None
    if after != proposal.registry or after.version != before.version + 1:
        raise RegistryError("the roots have signed a different registry from the one in the draft")
    check_expiry(after, today_day=today_day)
    explain_requests(before, after, proposal.requests, log_size=proposal.log_size)
    check_sizes(before, after, log_size=proposal.log_size)
    size = journal.size(connection)
    if proposal.log_size > size:
        raise RegistryError(
            f"the draft says that the log had {proposal.log_size} entries when it was proposed, but it has {size}",
            "Nothing was changed. Propose it again.",
        )
    links = [
        _reopen(connection, before, request, today_day=today_day) for request in proposal.requests
    ]
    if links:
        journal.append_all(
            connection, links, origin=before.log_name, log_key=home.log_signer(before)
        )
    if after.log_keys != before.log_keys:
        hand_over_log(connection, home, before, after)
    if after.receipt_key != before.receipt_key:
        sign_refusals_again(connection, home, after)
    put_in_force(connection, after.version, envelope)
    _remember_names(connection, before, after)
    answered = [link.statement.header.site for link in links]
    connection.execute(delete(enrolment_requests).where(enrolment_requests.c.site.in_(answered)))
    connection.execute(delete(rekeying_requests).where(rekeying_requests.c.site.in_(answered)))
    return after


def refuse_outdated(connection: Connection, proposal: Proposal) -> None:
    """Check that a proposal follows the registry in force. Raises RegistryError."""
    if newest_envelope(connection) != proposal.base:
        newest = newest_registry(connection).version
        raise RegistryError(
            f"the registry has changed to version {newest} since this change was proposed",
            "Nothing was changed. Propose it again, and have it signed again.",
        )


def _remember_names(connection: Connection, before: Registry, after: Registry) -> None:
    """Store the new names of sites with their invites, since the registry drops a name when a site becomes pooled."""
    for site_id, site in after.sites.items():
        known = before.sites.get(site_id)
        if (
            known is not None
            and site.publication == "named"
            and site.display_name != known.display_name
        ):
            renamed = update(invites).where(invites.c.site == site_id)
            connection.execute(renamed.values(display_name=site.display_name))


def _reopen(connection: Connection, before: Registry, request: bytes, *, today_day: int) -> Link:
    """Check a request again, against the log and the invite, and return the link to append for it."""
    try:
        opened = decode(request)
        statement = parse_statement(opened.payload)
        if isinstance(statement, EnrollPredicate):
            check_enrolment(
                connection, before, open_request(connection, request, today_day=today_day)
            )
        else:
            reopen_request(connection, request)
    except ProtocolError as error:
        raise EnrolmentError(
            f"a request in this change is refused: {error.detail} ({error.code})",
            "Nothing was changed. Propose the change again without it, and have the site make a new request.",
        ) from None
    return Link(
        digest=opened.digest,
        leaf=opened.pae,
        envelope=request,
        statement=statement,
        registry=before.version,
    )

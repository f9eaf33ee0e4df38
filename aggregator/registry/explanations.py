"""Explanations of a new registry version in plain words, and checks that every new key of a site was requested.

The functions depend only on two versions and the requests between them, so that a person who signs with a root key on
another machine sees the same text as the central team.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta

from aggregator.errors import RegistryError
from protocol.enrolment import open_signed_enrolment
from protocol.envelope import decode
from protocol.errors import ProtocolError
from protocol.keys import PublicKey
from protocol.predicates import EnrollPredicate, ResetPredicate
from protocol.registry import KeyGroup, Model, Registry, Site, SiteKey
from protocol.rekeying import answers, only_restricts, open_proposed_rekeying
from protocol.statements import parse_statement

MAX_DAYS = 3660
"""The maximum validity of a registry version, in days."""

PUBLIC_WHEN_NAMED = (
    "From then on, every dataset, plan, result and withdrawal of the site is public in the log and on the board, under "
    "its name."
)
PUBLIC_WHEN_POOLED = (
    "From then on, the public log shows only a hash of each of its datasets, plans, results and withdrawals, and the "
    "board shows its figures only pooled with those of other sites. Everything that was public before stays public."
)


def explain_requests(
    before: Registry, after: Registry, requests: Sequence[bytes], *, log_size: int
) -> list[str]:
    """Check the requests of a version without the log, and return an explanation of each in plain words.

    Args:
        before: the version in force.
        after: the version that follows it.
        requests: envelopes of the enrolments, resets and rotations that `after` implements.
        log_size: size of the log when `after` was composed.

    Raises:
        RegistryError: a request lacks a required signature, `after` does not implement it, or `after` gives a site a
            key or an epoch that no request asks for.
    """
    lines = []
    answered = set()
    for request in requests:
        try:
            site_id, line = _explain_request(before, after, request, log_size)
        except ProtocolError as error:
            raise RegistryError(
                f"a request in this change is not valid: {error.detail} ({error.code})"
            ) from None
        if site_id in answered:
            raise RegistryError(f"one version has two requests by site {site_id}")
        answered.add(site_id)
        lines.append(line)
    for site_id, site in after.sites.items():
        known = before.sites.get(site_id)
        if known is not None:
            _refuse_moved_starts(site_id, known, site)
        if site_id not in answered and (known is None or not only_restricts(known, site)):
            raise RegistryError(
                f"the change gives site {site_id} a key or an epoch that no request asks for"
            )
    return lines


def _refuse_moved_starts(site_id: str, before: Site, after: Site) -> None:
    """Refuse to move the start of a key, which would invalidate earlier signatures without a revocation."""
    starts = {entry.key.keyid: entry.from_index for entry in before.keys}
    for entry in after.keys:
        start = starts.get(entry.key.keyid, entry.from_index)
        if entry.from_index != start:
            raise RegistryError(
                f"the change moves the start of site {site_id}'s {entry.role} key {entry.key.keyid[:16]} from log "
                f"entry {start} to {entry.from_index}; signatures in between would no longer count",
                "Nothing was changed. The start of a key must not change. Ask who made the draft. A stolen key must be "
                "revoked.",
            )


def _explain_request(
    before: Registry, after: Registry, request: bytes, log_size: int
) -> tuple[str, str]:
    statement = parse_statement(decode(request).payload)
    site_id = statement.header.site
    site = after.sites.get(site_id)
    if site is None:
        raise RegistryError(
            f"the change contains a request by site {site_id}, but the new registry lacks the site"
        )
    if isinstance(statement, EnrollPredicate):
        enrolment = open_signed_enrolment(request, deployment=before.deployment)
        keys = {enrolment.agent.keyid: "agent", enrolment.steward.keyid: "steward"}
        given = {entry.key.keyid: entry.role for entry in site.keys}
        is_whole = all(
            entry == SiteKey(entry.key, entry.role, from_index=log_size) for entry in site.keys
        )
        is_first = site_id not in before.sites and (site.start, site.epoch) == (enrolment.digest, 1)
        if not is_first or not is_whole or given != keys:
            raise RegistryError(
                f"the change does not enrol site {site_id} with the request that it contains"
            )
        return site_id, (
            f"Site {site_id} is enrolled as {site.display_name} ({site.publication}).\n"
            f"    agent key    {enrolment.agent.fingerprint}\n"
            f"    steward key  {enrolment.steward.fingerprint}"
        )
    rekeying = open_proposed_rekeying(request, before, log_index=log_size)
    if not answers(before.sites[site_id], site, rekeying, log_size):
        raise RegistryError(
            f"the change gives site {site_id} different keys from those its request asks for"
        )
    what = "starts a new epoch" if isinstance(statement, ResetPredicate) else "replaces a key"
    lines = [f"Site {site_id} {what}; its keys are then:"]
    lines += [f"    {role:<12} {key.fingerprint}" for role, key in sorted(rekeying.keys.items())]
    return site_id, "\n".join(lines)


def check_sizes(before: Registry, after: Registry, *, log_size: int) -> None:
    """Check the stated log size of a change, and every log index that it sets, without the log.

    Args:
        before: the version in force.
        after: the version that follows it.
        log_size: size of the log when `after` was composed, as stated by its author.

    Raises:
        RegistryError: the log was already larger when `before` was made, or an index is not possible for this size.
    """
    smallest = _smallest_log(before)
    if log_size < smallest:
        raise RegistryError(
            f"the change states that the log has {log_size} entries, but it already had at least {smallest} when "
            f"version {before.version} came into force",
            "Nothing was changed. Ask its author for a new draft, made from the current log.",
        )
    for site_id, site in after.sites.items():
        old_site = before.sites.get(site_id)
        known = {} if old_site is None else {entry.key.keyid: entry for entry in old_site.keys}
        for entry in site.keys:
            old = known.get(entry.key.keyid, SiteKey(entry.key, entry.role, from_index=log_size))
            fault = _fault_of_indices(old, entry, log_size)
            if fault:
                raise RegistryError(
                    f"site {site_id}: its {entry.role} key {entry.key.keyid[:16]} {fault}"
                )
    start = after.log_keys[-1].from_size
    if after.log_keys != before.log_keys and start > log_size + 1:
        raise RegistryError(f"a log key begins at size {start}, but the log has {log_size} entries")


def _smallest_log(registry: Registry) -> int:
    """Return the minimum size of the log when a version came into force, derived from the indices in it."""
    sizes = [registry.log_keys[-1].from_size - 1, 0]
    for site in registry.sites.values():
        for entry in site.keys:
            sizes += [entry.from_index, entry.until_index or 0]
    return max(sizes)


def _fault_of_indices(old: SiteKey, new: SiteKey, log_size: int) -> str:
    """Return a description of the first impossible index of a key; empty if all are possible."""
    next_entries = (log_size, log_size + 1)  # a rotated key still signs its rotation
    if new.from_index != old.from_index and new.from_index not in next_entries:
        return f"would begin at log entry {new.from_index}, but the log has {log_size} entries"
    if new.until_index != old.until_index and new.until_index not in next_entries:
        return (
            f"would end at log entry {new.until_index}, but the log has {log_size} entries; only a revocation "
            "affects earlier entries"
        )
    if new.revoked_from != old.revoked_from and (
        new.revoked_from is None or new.revoked_from > log_size
    ):
        return f"would be revoked from log entry {new.revoked_from} on, but the log has {log_size} entries"
    return ""


def explain_difference(before: Registry, after: Registry) -> list[str]:
    """Return an explanation of every change between two versions that needs no request, except the new expiry."""
    _refuse_other_content(before, after)
    lines: list[str] = []
    for site_id in sorted(before.sites.keys() & after.sites.keys()):
        lines += _explain_site(site_id, before.sites[site_id], after.sites[site_id])
    for site_id in sorted(before.sites.keys() - after.sites.keys()):
        lines.append(f"Site {site_id} is no longer in the registry; its results no longer count.")
    lines += _explain_content(before, after)
    lines += _explain_roots(before, after)
    lines += _explain_group("Auditor", before.auditors, after.auditors)
    lines += _explain_group("Witness", before.witnesses, after.witnesses)
    if before.log_keys != after.log_keys:
        lines.append(_explain_log_keys(after))
    if before.receipt_key != after.receipt_key:
        lines.append(f"The new receipt key is\n    {after.receipt_key.fingerprint}")
    if before.policy_floor != after.policy_floor:
        floor = after.policies[after.policy_floor]
        lines.append(
            f"Every result must now obey a different policy: {floor.name} version {floor.version}."
        )
    return lines


def check_expiry(after: Registry, *, today_day: int) -> None:
    """Check that a version has not expired and does not exceed the maximum validity. Raises RegistryError."""
    if after.expires_day <= today_day:
        raise RegistryError(
            f"the registry would already have expired, on {_as_date(after.expires_day)}",
            "Nothing was changed. Propose it again.",
        )
    if after.expires_day > today_day + MAX_DAYS:
        raise RegistryError(
            f"the registry would expire on {_as_date(after.expires_day)}; expected at most {MAX_DAYS} days from now",
            "Nothing was changed. Ask who made the draft, or check the date of this computer.",
        )


def explain_expiry(before: Registry, after: Registry) -> str:
    """Return a sentence on when a version expires."""
    old, new = _as_date(before.expires_day), _as_date(after.expires_day)
    if after.expires_day < before.expires_day:
        return f"The registry expires on {new}, EARLIER than before ({old})."
    if after.expires_day == before.expires_day:
        return f"The registry expires on {new}, as before."
    return f"The registry expires on {new} (before: {old})."


def _as_date(day: int) -> str:
    """Return the date of a number of days since 1970-01-01, or the number itself if it is beyond Python's calendar."""
    try:
        return (date(1970, 1, 1) + timedelta(days=day)).isoformat()
    except OverflowError:
        return f"day {day}"


def _explain_log_keys(after: Registry) -> str:
    lines = ["The log's keys change. Checkpoints are then signed, by the size of the log,"]
    for entry in after.log_keys:
        until = "on" if entry.until_size is None else f"to {entry.until_size - 1}"
        lines.append(f"    from {entry.from_size} {until} by {entry.key.fingerprint}")
    return "\n".join(lines)


def _refuse_other_content(before: Registry, after: Registry) -> None:
    """Refuse changes that the text of a draft could not show. Raises RegistryError."""
    if (before.deployment, before.log_name) != (after.deployment, after.log_name):
        raise RegistryError("the change names a different deployment or log")
    cards = {
        (entry.scorecard.name, entry.scorecard.version): digest
        for digest, entry in before.scorecards.items()
    }
    for digest, entry in after.scorecards.items():
        name, version = entry.scorecard.name, entry.scorecard.version
        if cards.get((name, version), digest) != digest:
            raise RegistryError(
                f"scorecard {name} version {version} is registered with different content"
            )
    policies = {(policy.name, policy.version): digest for digest, policy in before.policies.items()}
    for digest, policy in after.policies.items():
        if policies.get((policy.name, policy.version), digest) != digest:
            raise RegistryError(
                f"policy {policy.name} version {policy.version} is registered with different content"
            )


def _explain_site(site_id: str, before: Site, after: Site) -> Iterator[str]:
    if before.publication != after.publication:
        sentence = PUBLIC_WHEN_NAMED if after.publication == "named" else PUBLIC_WHEN_POOLED
        yield f"Site {site_id} becomes {after.publication}. {sentence}"
    if before.display_name != after.display_name:
        yield f"Site {site_id} is shown as {after.display_name} (before: {before.display_name})."
    known = {entry.key.keyid: entry for entry in before.keys}
    kept = {entry.key.keyid for entry in after.keys}
    for entry in before.keys:
        if entry.key.keyid not in kept:
            yield (
                f"Site {site_id}: its {entry.role} key {entry.key.keyid[:16]} is no longer in the registry; "
                "results that it signed no longer count."
            )
    for entry in after.keys:
        old = known.get(entry.key.keyid)
        if old is None:
            continue
        key = f"Site {site_id}: its {entry.role} key {entry.key.keyid[:16]}"
        if entry.revoked_from != old.revoked_from:
            earlier = "" if old.revoked_from is None else f" (before: from {old.revoked_from} on)"
            yield (
                f"{key} is revoked from log entry {entry.revoked_from} on{earlier}; results that it signed from there "
                "on no longer count."
            )
        if entry.until_index != old.until_index:
            earlier = "" if old.until_index is None else f" (before: from {old.until_index} on)"
            yield (
                f"{key} may not sign from log entry {entry.until_index} on{earlier}; results that it has signed remain."
            )
    if is_active(before) and not is_active(after):
        yield f"Site {site_id} then has no key that may sign."


def is_active(site: Site) -> bool:
    """Return whether a site has, for each role, a key that is not revoked and has no last log entry."""
    roles = {
        entry.role
        for entry in site.keys
        if entry.until_index is None and entry.revoked_from is None
    }
    return roles == {"agent", "steward"}


def _explain_content(before: Registry, after: Registry) -> Iterator[str]:
    for digest, model in after.models.items():
        if before.models.get(digest) != model:
            yield _explain_model(before.models.get(digest), model)
    for digest, model in before.models.items():
        if digest not in after.models:
            yield f"Model {model.name} is no longer registered."
    for digest, known in after.scorecards.items():
        name = f"{known.scorecard.name} version {known.scorecard.version}"
        old = before.scorecards.get(digest)
        if old is None:
            state = "registered as retired" if known.retired else "registered"
            yield f"Scorecard {name} is {state}; its digest begins with {digest[:16]}."
        elif known.retired and not old.retired:
            yield f"Scorecard {name} is retired: no further results are accepted for it."
        elif old.retired and not known.retired:
            yield f"Scorecard {name} is no longer retired."
    for digest, known in before.scorecards.items():
        if digest not in after.scorecards:
            yield f"Scorecard {known.scorecard.name} version {known.scorecard.version} is no longer registered."
    for digest, policy in after.policies.items():
        if digest not in before.policies:
            yield f"Policy {policy.name} version {policy.version} is registered; its digest begins with {digest[:16]}."
    for digest, policy in before.policies.items():
        if digest not in after.policies:
            yield f"Policy {policy.name} version {policy.version} is no longer registered."
    for digest, version in after.agents.items():
        if digest not in before.agents:
            yield f"Version {version} of the agent may be used."
    for digest, version in before.agents.items():
        if digest not in after.agents:
            yield f"Version {version} of the agent may no longer be used."


def _explain_model(before: Model | None, after: Model) -> str:
    new = _describe_model(after)
    if before is None:
        return f"Model {after.name} is registered: " + "; ".join(new.values()) + "."
    old = _describe_model(before)
    changed = [
        f"{words} (before: {old[name]})" for name, words in new.items() if words != old[name]
    ]
    return f"Model {after.name} is changed: " + "; ".join(changed) + "."


def _describe_model(model: Model) -> dict[str, str]:
    """Return descriptions of a model's fields in a registry, by field."""
    size = model.parameters_millions
    return {
        "display_name": f"shown as {model.display_name}",
        "organization": f"made by {model.organization}"
        if model.organization
        else "without an organization",
        "kind": "a language model" if model.is_language_model else "a baseline",
        "family": f"of the {model.family} family" if model.family else "of unknown family",
        "size": f"with {size} million parameters" if size else "of unknown size",
    }


def _explain_roots(before: Registry, after: Registry) -> Iterator[str]:
    old, new = _by_keyid(before.roots), _by_keyid(after.roots)
    for keyid, key in new.items():
        if keyid not in old:
            yield f"New root key:\n    {key.fingerprint}"
    for keyid, key in old.items():
        if keyid not in new:
            yield f"No longer a root key:\n    {key.fingerprint}"
    if before.threshold != after.threshold or old.keys() != new.keys():
        yield f"{after.threshold} of {len(after.roots)} root keys must sign from then on."


def _explain_group(title: str, before: KeyGroup, after: KeyGroup) -> Iterator[str]:
    old = {entry.name: entry.key for entry in before.keys}
    new = {entry.name: entry.key for entry in after.keys}
    for name, key in new.items():
        if old.get(name) != key:
            yield f"{title} {name}:\n    {key.fingerprint}"
    for name in old.keys() - new.keys():
        yield f"{title} {name} is removed."
    if before != after:
        plural = "Witnesses" if title == "Witness" else f"{title}s"
        yield f"{plural}: {after.threshold} of {len(after.keys)} must sign."


def _by_keyid(keys: Sequence[PublicKey]) -> Mapping[str, PublicKey]:
    return {key.keyid: key for key in keys}

"""The listings of the command line as plain rows, for text and JSON output."""

from sqlalchemy import Connection, select

from aggregator.log.history import is_frozen
from aggregator.registry.explanations import is_active
from aggregator.registry.versions import newest_registry
from aggregator.store.schema import forks, invites
from protocol.keys import PublicKey
from protocol.registry import Registry, Site

Line = dict[str, str | int | bool]


def listing(connection: Connection, what: str) -> list[Line]:
    """Return the rows of a listing: sites, models, scorecards, keys or forks."""
    registry = newest_registry(connection)
    match what:
        case "sites":
            invited = connection.execute(select(invites.c.site, invites.c.display_name))
            names = {row.site: row.display_name for row in invited}
            return [
                {
                    "site": site_id,
                    # The registry does not contain the names of pooled sites. They are only stored
                    # with their invites.
                    "name": names.get(site_id, site_id)
                    if site.publication == "pooled"
                    else site.display_name,
                    "publication": site.publication,
                    "epoch": site.epoch,
                    "state": _state_of_site(connection, site_id, site),
                }
                for site_id, site in sorted(registry.sites.items())
            ]
        case "models":
            return [
                {
                    "name": model.name,
                    "display_name": model.display_name,
                    "organization": model.organization,
                    "kind": "language model" if model.is_language_model else "baseline",
                    "family": model.family,
                    "parameters_millions": model.parameters_millions,
                    "digest": digest,
                }
                for digest, model in sorted(registry.models.items(), key=lambda item: item[1].name)
            ]
        case "scorecards":
            return [
                {
                    "name": known.scorecard.name,
                    "version": known.scorecard.version,
                    "state": "retired" if known.retired else "active",
                    "digest": digest,
                }
                for digest, known in registry.scorecards.items()
            ]
        case "keys":
            return [*_central_keys(registry), *_site_keys(registry)]
        case "forks":
            query = select(forks.c.site, forks.c.epoch, forks.c.seq, forks.c.digest).order_by(
                forks.c.digest
            )
            return [dict(row._mapping) for row in connection.execute(query)]
    raise ValueError(what)


def _state_of_site(connection: Connection, site_id: str, site: Site) -> str:
    """Return the state of a site.

    The state is `active`; `frozen` after a fork; `revoked` if a key was revoked and not replaced by
    a reset; or `left` if its keys have ended.
    """
    if not is_active(site):
        is_revoked = any(
            entry.revoked_from is not None and entry.until_index is None for entry in site.keys
        )
        return "revoked" if is_revoked else "left"
    return "frozen" if is_frozen(connection, site_id, site.epoch) else "active"


def _central_keys(registry: Registry) -> list[Line]:
    lines = [
        _key_line(f"root ({registry.threshold} must sign)", "", root, "active")
        for root in registry.roots
    ]
    for entry in registry.log_keys:
        state = "active" if entry.until_size is None else f"replaced at size {entry.until_size}"
        lines.append(_key_line("log", registry.log_name, entry.key, state))
    lines.append(_key_line("receipt", registry.log_name, registry.receipt_key, "active"))
    for office, group in (("auditor", registry.auditors), ("witness", registry.witnesses)):
        for named in group.keys:
            lines.append(
                _key_line(
                    f"{office} ({group.threshold} must sign)", named.name, named.key, "active"
                )
            )
    return lines


def _site_keys(registry: Registry) -> list[Line]:
    lines = []
    for site_id, site in sorted(registry.sites.items()):
        for entry in site.keys:
            state = "active"
            if entry.until_index is not None:
                state = f"ended at entry {entry.until_index}"
            if entry.revoked_from is not None:
                state = f"revoked from entry {entry.revoked_from}"
            lines.append(_key_line(entry.role, site_id, entry.key, state))
    return lines


def _key_line(office: str, owner: str, key: PublicKey, state: str) -> Line:
    return {"office": office, "owner": owner, "state": state, "key": key.keyid}

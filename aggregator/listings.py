"""What the command line lists: plain rows, the same for people and for machines."""

from sqlalchemy import Connection, select

from aggregator.log.history import is_frozen
from aggregator.registry.versions import newest_registry
from aggregator.store.schema import forks, invites

Line = dict[str, str | int | bool]


def listing(connection: Connection, what: str) -> list[Line]:
    """Return the lines of one listing: sites, models, scorecards or forks."""
    registry = newest_registry(connection)
    match what:
        case "sites":
            invited = connection.execute(select(invites.c.site, invites.c.display_name))
            names = {row.site: row.display_name for row in invited}
            return [
                {
                    "site": site_id,
                    "name": names.get(site_id, site.display_name),
                    "publication": site.publication,
                    "epoch": site.epoch,
                    "state": "frozen" if is_frozen(connection, site_id, site.epoch) else "active",
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
                    "digest": digest,
                }
                for digest, model in sorted(registry.models.items(), key=lambda item: item[1].name)
            ]
        case "scorecards":
            return [
                {
                    "name": known.scorecard.name,
                    "version": known.scorecard.version,
                    "state": "retired" if known.retired else "open",
                    "digest": digest,
                }
                for digest, known in registry.scorecards.items()
            ]
        case "forks":
            query = select(forks.c.site, forks.c.epoch, forks.c.seq, forks.c.digest).order_by(forks.c.digest)
            return [dict(row._mapping) for row in connection.execute(query)]
    raise ValueError(what)

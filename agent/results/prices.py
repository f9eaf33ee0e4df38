"""The present prices of a site's deployments, for commands that show what answers cost."""

from typing import TYPE_CHECKING

from agent.errors import ConfigError

if TYPE_CHECKING:
    from agent.catalog.deployments import Prices
    from agent.site.directory import Site


def read_prices(site: "Site") -> "dict[str, Prices]":
    """Return the prices by deployment, or {} if their file cannot be read."""
    from agent.catalog.deployments import read_deployments

    try:
        deployments = read_deployments(site.deployments)
    except ConfigError:
        return {}
    return {
        name: deployment.prices
        for name, deployment in deployments.items()
        if deployment.prices is not None
    }

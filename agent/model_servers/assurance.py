"""The digest of a model's weights, for plans which state that the weights were hashed."""

from typing import TYPE_CHECKING

from agent.catalog.deployments import read_deployments
from agent.errors import ConfigError
from agent.model_servers.weights import compute_server_digest

if TYPE_CHECKING:
    from agent.site.directory import Site


def compute_model_digest(site: "Site", model: str) -> str:
    """Return the digest of the weights that the site's own servers of a model have.

    Args:
        site: the site.
        model: the model's name, as in run entries.

    Raises:
        ConfigError: no server of this model is started by the agent, or they have different weights.
    """
    digests: dict[str, str] = {}
    for name, deployment in read_deployments(site.deployments).items():
        if deployment.model_name == model and deployment.managed is not None:
            digests[name] = compute_server_digest(deployment.managed, site.servers)
    if not digests:
        raise ConfigError(
            f"the weights of {model} cannot be hashed: no deployment of it in {site.deployments.name} has model_server",
            "Plan with --model-assurance served_claimed, or let the agent start the server, see docs/deployments.md.",
        )
    if len(set(digests.values())) > 1:
        raise ConfigError(
            f"the deployments of {model} have different weights: {', '.join(digests)}",
            "Keep one of them, or give the others their own model names.",
        )
    return next(iter(digests.values()))

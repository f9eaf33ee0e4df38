"""The site's limits on HTTP requests to inference servers."""

from agent.inference.limits import HttpLimits
from agent.site.directory import Site


def http_limits(site: Site) -> HttpLimits:
    """Return the site's time limits and retry limits for requests to a model server."""
    settings = site.settings
    return HttpLimits(
        connect_timeout_s=settings.connect_timeout_s,
        attempt_timeout_s=settings.attempt_timeout_s,
        first_attempt_timeout_s=settings.first_attempt_timeout_s,
        total_timeout_s=settings.total_timeout_s,
        max_attempts=settings.max_attempts,
        outage_grace_s=settings.outage_grace_s,
    )

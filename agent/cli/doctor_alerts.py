"""The check of `intramural doctor` on alerts. It sends nothing; `intramural alerts test` does."""

from collections.abc import Iterator

from agent.cli.checks import Check, run_check
from agent.site.directory import Site


def check_alerts(site: Site) -> Iterator[Check]:
    """Check the settings of alerts and whether the last ones arrived, if the site has a receiver."""
    from agent.alerts.channels import read_plan

    if read_plan(site.settings).channels:
        yield run_check("alerts", lambda: _check_alerts(site))


def _check_alerts(site: Site) -> Check:
    from agent.alerts.channels import read_plan
    from agent.alerts.standing import check_files, describe_receivers, read_standing

    plan = read_plan(site.settings)
    check_files(plan)
    with site.store() as store:
        standing = read_standing(store)
    finding = f"to {describe_receivers(plan)}; {standing.describe()}"
    if standing.failing or standing.given_up:
        return Check("alerts", "warning", finding, "Try `intramural alerts test`.")
    if not plan.codes:
        return Check(
            "alerts",
            "warning",
            "alert_on is empty, so no alert is sent",
            "Name events in alert_on.",
        )
    return Check("alerts", "ok", finding)

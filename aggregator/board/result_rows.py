"""HTML rows of tables that list submissions. Built from strings, since 50,000 rows are too many for
a template. Pure.
"""

from markupsafe import Markup, escape

from aggregator.board.figures import iso_date
from aggregator.merge.board_model import SiteResult

WEIGHTS = {"weights_hashed": "hashed", "served_claimed": "as claimed by the server"}


def write_submission(result: SiteResult, up: str) -> Markup:
    """Return the row of a submission on its model's page. `up` is the relative path to the board's root."""
    return Markup(  # noqa: S704 - the name is escaped, the rest is generated or has a validated format
        f'<tr><th scope="row"><a href="{up}sites/{result.site}.html">{escape(result.site_name)}</a></th>'
        f'<td class="number">{result.log_position}</td><td><code class="long">{result.digest}</code></td>'
        f"{_write_run(result)}<td>{WEIGHTS.get(result.assurance, 'not stated')}</td></tr>\n"
    )


def write_site_result(result: SiteResult, model_page: str) -> Markup:
    """Return the row of a submission on its site's page. `model_page` is the address of its model's page."""
    return Markup(  # noqa: S704 - names are escaped, the rest is generated or has a validated format
        f'<tr><th scope="row"><a href="{model_page}">{escape(result.model.display_name)}</a></th>'
        f"{_write_run(result)}<td>{escape(result.policy_name)}</td><td>{escape(result.agent_version)}</td>"
        f'<td class="number">{result.log_position}</td></tr>\n'
    )


def _write_run(result: SiteResult) -> str:
    stale = ", stale" if result.is_stale else ""
    plan = "planned" if result.is_planned else "unplanned"
    return f'<td class="day">{iso_date(result.day)}</td><td>{result.outcome}{stale}</td><td>{plan}</td>'

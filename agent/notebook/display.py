"""The HTML by which a notebook shows a site."""

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup, escape

_COLUMNS = ("suite", "benchmarks", "models", "runs", "instances")


def describe_site(folder: str, suites: Sequence[Mapping[str, Any]]) -> str:
    """Return a table of the suites, or what to do next if there is none."""
    title = Markup("<p><strong>Intramural</strong> site <code>{}</code></p>").format(folder)
    if not suites:
        next_step = Markup(
            "<p>No runs yet. <code>site.benchmarks()</code> lists benchmarks, <code>site.run(...)</code> runs one.</p>"
        )
        return str(title + next_step)
    heads = Markup().join(Markup('<th scope="col">{}</th>').format(name) for name in _COLUMNS)
    lines = Markup().join(_draw_row(suite) for suite in suites)
    return str(title + Markup("<table><thead><tr>{}</tr></thead>").format(heads)) + str(
        Markup("<tbody>{}</tbody></table>").format(lines)
    )


def _draw_row(suite: Mapping[str, Any]) -> Markup:
    cells = [Markup('<th scope="row">{}</th>').format(suite["suite"])]
    for name in _COLUMNS[1:]:
        cells.append(Markup("<td>{}</td>").format(escape(f"{suite[name]:,}")))
    return Markup("<tr>{}</tr>").format(Markup().join(cells))

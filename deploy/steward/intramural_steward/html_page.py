"""Pages as a single HTML file without scripts or links. Its style is allowed by digest in the
Content-Security-Policy.
"""

import base64
import hashlib
from collections.abc import Iterable, Sequence
from html import escape
from typing import Final

from intramural_steward.pages import Page
from protocol.description import KEPT, Description, Fact, FigureRow, RuleRow

_STYLE: Final = """
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, sans-serif; color: #1a1a1a; background: #fff; margin: 2rem auto; max-width: 68rem;
  padding: 0 1rem; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .25rem; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; border-bottom: 1px solid #999; }
article + article { margin-top: 4rem; border-top: 4px solid #1a1a1a; padding-top: 2rem; }
.digest, pre, .number { font-family: ui-monospace, monospace; font-size: .875rem; overflow-wrap: anywhere; }
pre { white-space: pre-wrap; background: #f4f4f4; border: 1px solid #ccc; padding: .75rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .25rem .75rem .25rem 0; border-bottom: 1px solid #ddd; }
td:first-child { min-width: 13rem; }
td.number { white-space: nowrap; }
dl { display: grid; grid-template-columns: fit-content(45%) 1fr; gap: .15rem 1.25rem; margin: 1rem 0; }
dt { color: #555; overflow-wrap: anywhere; }
dd { margin: 0; overflow-wrap: anywhere; }
.fault, .caution, .again { overflow-wrap: anywhere; padding: .5rem .75rem; margin: .75rem 0; border-left: .4rem solid; }
.fault { border-color: #a40000; background: #fdeaea; font-weight: bold; }
.caution { border-color: #a66300; background: #fff5e0; }
.again { border-color: #205080; background: #e9f1fa; }
.coded { font-style: italic; }
.meaning { color: #555; }
@media print {
  body { margin: 0; max-width: none; font-size: 10pt; }
  article + article { break-before: page; }
  tr, .fault, .caution { break-inside: avoid; }
  .wide { overflow: visible; }
}
.wide { overflow-x: auto; }
"""


def render_html(pages: Iterable[Page]) -> bytes:
    """Return a document with all pages."""
    digest = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    articles = "\n".join(_render_page(page) for page in pages)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width">
<title>Request for approval</title>
<style>{_STYLE}</style>
</head>
<body>
{articles}
</body>
</html>
""".encode()


def _render_page(page: Page) -> str:
    description = page.description
    parts = [
        f"<h1>{escape(description.title)}</h1>",
        f'<p class="digest">{escape(description.kind)} {escape(description.digest)}</p>',
    ]
    parts += [f'<p class="fault">Must not be signed: {escape(fault)}</p>' for fault in page.faults]
    parts += [f'<p class="caution">Check this: {escape(caution)}</p>' for caution in page.cautions]
    before = page.continuity.approved_before
    if before is not None:
        parts.append(
            f'<p class="again">You approved this statement before (number {before.number} on your list); approving it '
            "again gives the same bytes.</p>"
        )
    roots = [Fact("root key", root.fingerprint) for root in page.roots]
    parts.append(_render_facts([*description.facts, *roots]))
    if description.figures:
        parts += [
            "<h2>Figures</h2>",
            _render_figures(description.figures, has_before=bool(description.previous)),
        ]
    if description.notes:
        parts.append("<h2>Numbers stated by the site</h2>")
        parts.append("<p>They do not leave the site, and cannot be checked here.</p>")
        parts.append(_render_facts(description.notes))
    if description.rules:
        parts += ["<h2>Rules</h2>", _render_rules(description.rules)]
    parts.append("<h2>Consequences of signing</h2>")
    parts += [f"<p>{escape(sentence)}</p>" for sentence in description.sentences]
    parts.append(_render_payload(description))
    return "<article>\n" + "\n".join(parts) + "\n</article>"


def _render_facts(facts: Sequence[Fact]) -> str:
    rows = "".join(f"<dt>{escape(fact.name)}</dt><dd>{escape(fact.text)}</dd>\n" for fact in facts)
    return f"<dl>\n{rows}</dl>"


def _render_figures(figures: Sequence[FigureRow], *, has_before: bool) -> str:
    names = ["Figure", "Value", "Of range", "Units", "Std. dev."]
    if has_before:
        names += ["Before", "Its units", "Change"]
    rows = []
    for figure in figures:
        is_coded = figure.value[:1].isalpha()
        cells = [
            f"<td>{escape(figure.subject)}</td>",
            f'<td class="number{" coded" if is_coded else ""}">{escape(figure.value)}</td>',
        ]
        numbers = [figure.scale, figure.units, figure.deviation]
        if has_before:
            numbers += [figure.before, figure.units_before, figure.change]
        cells += [f'<td class="number">{escape(number)}</td>' for number in numbers]
        cells.append(f'<td class="meaning">{escape(figure.meaning)}</td>')
        rows.append("<tr>" + "".join(cells) + "</tr>")
    return _render_table([*names, "Meaning"], rows)


def _render_rules(rules: Sequence[RuleRow]) -> str:
    rows = []
    for rule in rules:
        verdict = escape(rule.verdict)
        if rule.is_broken or rule.verdict == KEPT:
            verdict = f"<strong>{verdict}</strong>"
        cells = [
            f'<td class="number">{number}</td>'
            for number in (rule.site, rule.federation, rule.effective)
        ]
        rows.append(
            f'<tr><td>{escape(rule.meaning)} <span class="digest">({escape(rule.name)})</span></td>'
            + "".join(cells)
            + f"<td>{verdict}</td></tr>"
        )
    return _render_table(["Rule", "Site", "Federation", "Applied: the stricter", "Verdict"], rows)


def _render_table(names: Sequence[str], rows: Sequence[str]) -> str:
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in names)
    body = "\n".join(rows)
    return f'<div class="wide"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table></div>'


def _render_payload(description: Description) -> str:
    return (
        f"<h2>The exact bytes</h2>\n<p>Exactly these {len(description.payload)} bytes are signed and leave the site."
        f"</p>\n<pre>{escape(description.payload)}</pre>"
    )

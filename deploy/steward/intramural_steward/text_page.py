"""A page as plain text, wrapped for a terminal or printer, with its full content."""

import textwrap
from collections.abc import Iterator, Sequence
from typing import Final

from intramural_steward.pages import Page
from protocol.description import FigureRow, RuleRow

_WIDTH: Final = 100
_NAME_WIDTH: Final = 15


def render_text(page: Page) -> str:
    """Return the page, ending with a line break."""
    return "\n".join(_lines(page)) + "\n"


def _lines(page: Page) -> Iterator[str]:
    description = page.description
    yield "=" * _WIDTH
    yield from textwrap.wrap(description.title, _WIDTH)
    yield f"{description.kind} {description.digest}"
    yield "=" * _WIDTH
    for fault in page.faults:
        yield from _wrap("MUST NOT BE SIGNED: ", fault)
    for caution in page.cautions:
        yield from _wrap("Check this: ", caution)
    before = page.continuity.approved_before
    if before is not None:
        yield (
            f"You approved this statement before (number {before.number} on your list); approving it again gives the "
            "same bytes."
        )
    for fact in description.facts:
        yield from _wrap(f"{fact.name:<{_NAME_WIDTH}} ", fact.text)
    for root in page.roots:
        yield from _wrap(f"{'root key':<{_NAME_WIDTH}} ", root.fingerprint)
    if description.figures:
        yield ""
        yield "Figures"
        yield from _list_figures(description.figures, has_before=bool(description.previous))
    if description.notes:
        yield ""
        yield "Numbers stated by the site (they do not leave it, and cannot be checked here)"
        for note in description.notes:
            yield from _wrap("  ", f"{note.text} {note.name}")
    if description.rules:
        yield ""
        yield "Rules: the stricter of the site's and the federation's limits applies"
        for rule in description.rules:
            yield from _list_rule(rule)
    yield ""
    for sentence in description.sentences:
        yield from textwrap.wrap(sentence, _WIDTH)
    yield ""
    yield f"Exactly these {len(description.payload)} bytes are signed and leave the site:"
    yield from textwrap.wrap(
        description.payload,
        _WIDTH,
        break_on_hyphens=False,
        drop_whitespace=False,
        replace_whitespace=False,
    )


def _list_figures(figures: Sequence[FigureRow], *, has_before: bool) -> Iterator[str]:
    """Yield a line of columns for each figure, followed by its meaning."""
    names = ["value", "of range", "units", "std. dev."]
    if has_before:
        names += ["before", "its units", "change"]
    rows = []
    for figure in figures:
        columns = [figure.value, figure.scale, figure.units or "-", figure.deviation or "-"]
        if has_before:
            columns += [figure.before or "-", figure.units_before or "-", figure.change or "-"]
        rows.append(columns)
    widths = [max(len(row[column]) for row in [names, *rows]) for column in range(len(names))]
    yield "  " + _join(names, widths)
    for figure, row in zip(figures, rows, strict=True):
        yield f"  {figure.subject}"
        yield "    " + _join(row, widths)
        yield from _wrap("    ", figure.meaning)


def _join(columns: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(
        text.ljust(width) for text, width in zip(columns, widths, strict=True)
    ).rstrip()


def _list_rule(rule: RuleRow) -> Iterator[str]:
    numbers = f"{rule.effective} (site {rule.site}, federation {rule.federation})"
    yield from _wrap(
        "  ",
        f"{rule.name} {numbers}: {rule.meaning}. {rule.verdict[:1].upper()}{rule.verdict[1:]}.",
    )


def _wrap(start: str, text: str) -> list[str]:
    return textwrap.wrap(
        text, _WIDTH, initial_indent=start, subsequent_indent=" " * len(start)
    ) or [start.rstrip()]

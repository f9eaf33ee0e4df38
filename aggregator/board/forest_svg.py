"""Forest plots as SVG. Built from strings, since a board has too many of these lines for a template. Pure."""

from markupsafe import Markup, escape

from aggregator.board.forest import Forest, ForestLine

_TEXT_X = 575  # where the text column with the figures begins


def write_forest(forest: Forest, identifier: str) -> Markup:
    """Return the drawing. `identifier` is the id of its title, which describes the plot in words."""
    parts = [
        f'<svg class="forest" viewBox="0 0 760 {forest.height}" role="img" aria-labelledby="{identifier}">',
        f'<title id="{identifier}">{escape(f"{forest.title}. {forest.text}")}</title>',
    ]
    bottom = forest.axis_y
    for x, label in forest.ticks:
        parts.append(f'<line class="axis" x1="{x}" x2="{x}" y1="8" y2="{bottom}"/>')
        parts.append(
            f'<text class="quiet" x="{x}" y="{bottom + 16}" text-anchor="middle">{label}</text>'
        )
    merged = forest.merged
    if merged is not None:
        parts.append(f'<line class="guide" x1="{merged.x}" x2="{merged.x}" y1="8" y2="{bottom}"/>')
    parts += [_write_site(line) for line in forest.lines]
    if merged is not None:
        parts.append(
            f'<text x="0" y="{merged.y + 4}" font-weight="600">{escape(merged.label)}</text>'
        )
        parts.append(f'<polygon class="diamond" points="{forest.diamond}"/>')
        if forest.prediction is not None:
            low, high, y = forest.prediction
            parts.append(f'<line class="prediction" x1="{low}" x2="{high}" y1="{y}" y2="{y}"/>')
        parts.append(
            f'<text x="{_TEXT_X}" y="{merged.y + 4}" font-weight="600">{merged.figures}</text>'
        )
    parts.append("</svg>")
    return Markup("\n".join(parts))  # noqa: S704 - names are escaped above, the rest is generated


def _write_site(line: ForestLine) -> str:
    interval = square = ""
    if line.x_low is not None:
        interval = f'<line class="interval" x1="{line.x_low}" x2="{line.x_high}" y1="{line.y}" y2="{line.y}"/>'
    if line.x is not None:
        half = line.half
        square = (
            f'<rect class="value" x="{line.x - half:.1f}" y="{line.y - half:.1f}" '
            f'width="{2 * half:.1f}" height="{2 * half:.1f}"/>'
        )
    return (
        f'<text x="0" y="{line.y + 4}">{escape(line.label)}</text>{interval}{square}'
        f'<text class="quiet" x="{_TEXT_X}" y="{line.y + 4}">{line.figures}</text>'
    )

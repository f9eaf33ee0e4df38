"""Write simple SVG elements as text. Everything is escaped, and the same values always give the same bytes."""

from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

# Readable in greyscale: colours and marks differ in lightness, never only in hue. Pages override the colours by class.
PAPER, INK, QUIET, LINE, BAND, ACCENT = (
    "#ffffff",
    "#14202b",
    "#4a5866",
    "#c9d1d9",
    "#8fc1d1",
    "#12607a",
)
_FILLS = {"paper": PAPER, "ink": INK, "quiet": QUIET, "line": LINE, "band": BAND, "accent": ACCENT}
LETTER = 7.2  # width in pixels of an average letter at 13 px, rounded up

Value = str | float | int


def element(name: str, /, *inside: str, **attributes: Value) -> str:
    """Return an element. `inside` is markup; attribute names use _ for -, and a trailing _ is dropped."""
    words = ""
    for key, value in attributes.items():
        words += f" {_format_name(key)}={quoteattr(_format_value(value))}"
    if not inside:
        return f"<{name}{words}/>"
    return f"<{name}{words}>{''.join(inside)}</{name}>"


def text(
    x: float,
    y: float,
    words: str,
    *,
    kind: str = "ink",
    anchor: str = "start",
    size: int = 13,
    **more: Value,
) -> str:
    """Return a line of text that starts, ends or is centred at x, with its baseline at y."""
    return element(
        "text",
        clean(words),
        x=x,
        y=y,
        font_size=size,
        text_anchor=anchor,
        class_=f"plot-{kind}",
        fill=_FILLS[kind],
        **more,
    )


def rectangle(x: float, y: float, width: float, height: float, *, kind: str) -> str:
    """Return a filled rectangle."""
    return element(
        "rect", x=x, y=y, width=width, height=height, class_=f"plot-{kind}", fill=_FILLS[kind]
    )


def shorten(words: str, width: float) -> str:
    """Shorten text to about `width` pixels at 13 px."""
    most = max(2, int(width / LETTER))
    if len(words) <= most:
        return words
    return words[: most - 1] + "\u2026"


def clean(words: str) -> str:
    """Escape text, and replace characters that XML does not allow."""
    printable = [letter if letter.isprintable() else "\ufffd" for letter in words]
    return escape("".join(printable))


@dataclass(frozen=True, slots=True)
class Drawing:
    """A drawing, before it is written.

    Attributes:
        width, height: in pixels; on a page the drawing shrinks to the available space.
        title: its title.
        description: its content in words, for readers who cannot see it.
        parts: its elements.
    """

    width: float
    height: float
    title: str
    description: str
    parts: Sequence[str]

    def markup(self, name: str, role: str = "img", *, alone: bool = False) -> str:
        """Return the drawing as an SVG element.

        Ids begin with `name`, so that a page can contain several drawings. With `alone`, for a file, the element has no
        size and fills its container; on a page, its style lets it shrink.
        """
        return element(
            "svg",
            element("title", clean(self.title), id=f"{name}-title"),
            element("desc", clean(self.description), id=f"{name}-desc"),
            rectangle(0, 0, self.width, self.height, kind="paper"),
            *self.parts,
            xmlns="http://www.w3.org/2000/svg",
            viewBox=f"0 0 {_format_value(self.width)} {_format_value(self.height)}",
            **({} if alone else {"width": self.width, "height": self.height}),
            role=role,
            aria_labelledby=f"{name}-title",
            aria_describedby=f"{name}-desc",
            font_family="system-ui, 'Noto Sans', 'DejaVu Sans', sans-serif",
            class_="plot",
        )


def _format_name(key: str) -> str:
    if key == "viewBox":  # the one attribute here that SVG writes with a capital
        return key
    return key.rstrip("_").replace("_", "-")


def _format_value(value: Value) -> str:
    if isinstance(value, str):
        return value
    return f"{value:.2f}".rstrip("0").rstrip(".")

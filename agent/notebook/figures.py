"""Drawings that a notebook shows inline and that can be saved as SVG files."""

import os
from collections.abc import Iterator
from itertools import count
from pathlib import Path

from agent.errors import ConfigError
from agent.plots.svg import Drawing

_numbers: Iterator[int] = count(1)


class Figure:
    """A drawing as SVG. A notebook shows it inline; `save` writes it to a file; `svg` is its text."""

    def __init__(self, drawing: Drawing) -> None:
        """Keep a drawing, which contains no text of an instance."""
        self._drawing = drawing
        # A notebook shows many figures on one page, where ids must be unique.
        self._name = f"intramural-figure-{next(_numbers)}"

    @property
    def svg(self) -> str:
        """The text of an SVG file; the same values always give the same text."""
        return self._drawing.markup("figure", alone=True) + "\n"

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the figure to an SVG file, and return its path.

        Raises:
            ConfigError: the name does not end in .svg, or the file cannot be written.
        """
        file = Path(path)
        if file.suffix != ".svg":
            raise ConfigError("a figure is saved as SVG", "Name a file that ends in .svg.")
        try:
            file.write_text(self.svg, "utf-8")
        except OSError as why:
            raise ConfigError(
                f"{file.name} cannot be written ({why.strerror})", "Name a file in another folder."
            ) from None
        return file

    def _repr_html_(self) -> str:
        # A dark notebook keeps the drawing's own light paper, on which its colours have enough contrast.
        return (
            f'<div style="max-width:100%;overflow-x:auto">{self._drawing.markup(self._name)}</div>'
        )

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"Figure({self._drawing.title!r})"

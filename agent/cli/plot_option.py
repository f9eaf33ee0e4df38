"""The option `--plot`: a drawing in a file, or in plain letters on the terminal."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agent.errors import ConfigError
from agent.io.plain_text import printable

if TYPE_CHECKING:
    from agent.plots.charts import Chart


def plot_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the option."""
    kind = click.Path(path_type=Path, allow_dash=True)
    words = "Draw it into a file (SVG), or as text in the terminal (-)."
    return click.option("--plot", type=kind, metavar="FILE.svg|-", help=words)(command)


def check_plot(plot: Path | None, form: str) -> None:
    """See that a drawing can go where it is to go, before anything is computed.

    Raises:
        ConfigError: the file is no SVG file, or drawing and figures would both be printed.
    """
    if str(plot) == "-" and form != "table":
        raise ConfigError(f"--plot - and --format {form} both write here", "Name a file: --plot FILE.svg.")
    if plot is not None and str(plot) != "-" and plot.suffix != ".svg":
        raise ConfigError("--plot writes SVG", "Name a file that ends in .svg, or - for a plot in the terminal.")


def draw(plot: Path, chart: "Chart", svg: "Callable[[Chart], bytes]") -> None:
    """Draw a chart.

    Args:
        plot: as the option has it.
        chart: what to draw.
        svg: makes a file's content of it.

    Raises:
        ConfigError: the file cannot be written.
    """
    if str(plot) == "-":
        from agent.plots.plain import draw_plain_plot

        click.echo(printable(draw_plain_plot(chart)), nl=False)
        return
    try:
        plot.write_bytes(svg(chart))
    except OSError as why:
        raise ConfigError(f"{plot.name} cannot be written ({why.strerror})", "Name a file in another folder.") from None
    click.echo(f"Drawn: {plot.name}", err=True)

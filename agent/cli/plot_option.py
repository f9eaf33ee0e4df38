"""The option `--plot`: a plot written to a file, or drawn as plain text on the terminal."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agent.errors import ConfigError
from agent.io.plain_text import printable

if TYPE_CHECKING:
    from agent.plots.charts import Chart


def plot_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the option `--plot` to a command."""
    kind = click.Path(path_type=Path, allow_dash=True)
    words = "Write a plot to an SVG file, or draw it as text in the terminal (-)."
    return click.option("--plot", type=kind, metavar="FILE.svg|-", help=words)(command)


def check_plot(plot: Path | None, form: str) -> None:
    """Check the destination of the plot before anything is computed.

    Raises:
        ConfigError: the file's name does not end in .svg, or plot and rows would both go to standard output.
    """
    if str(plot) == "-" and form != "table":
        raise ConfigError(
            f"--plot - and --format {form} both write to standard output",
            "Name a file: --plot FILE.svg.",
        )
    if plot is not None and str(plot) != "-" and plot.suffix != ".svg":
        raise ConfigError(
            "--plot writes SVG", "Name a file that ends in .svg, or - for a plot in the terminal."
        )


def draw(plot: Path, chart: "Chart", svg: "Callable[[Chart], bytes]") -> None:
    """Draw a chart.

    Args:
        plot: the option's value, a path or "-" for the terminal.
        chart: the chart to draw.
        svg: renders the chart as the contents of an SVG file.

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
        raise ConfigError(
            f"{plot.name} cannot be written ({why.strerror})", "Name a file in another folder."
        ) from None
    click.echo(f"Plot written to {plot.name}", err=True)

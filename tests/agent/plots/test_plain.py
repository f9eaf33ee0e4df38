"""A plot in the terminal."""

from agent.plots.plain import draw_plain_plot
from tests.agent.plots.summaries import ORDINARY


def test_a_plot_in_the_terminal_fits_120_columns_and_is_plain():
    plain = draw_plain_plot(ORDINARY)
    assert plain.isascii()
    assert max(map(len, plain.splitlines())) <= 120
    line = next(line for line in plain.splitlines() if "a/good" in line)
    strip = line.partition("|")[2].partition("|")[0]
    assert strip == " " * 34 + "--o--" + "  "
    bounded = next(line for line in plain.splitlines() if "b/fair" in line)
    assert ".....--o--....." in bounded  # 20 of 60 unscored: from 0.333 to 0.667

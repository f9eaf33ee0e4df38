"""A plot that cannot be is refused before anything is printed."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from agent.cli.summarize import summarize
from agent.errors import ConfigError
from tests.agent.cli.judged_suite import judged_site, summarized
from tests.agent.service.filled_site import FilledSite


@pytest.fixture
def filled(tmp_path: Path) -> FilledSite:
    return judged_site(tmp_path)


@pytest.mark.full
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--plot", "x.png"], "--plot writes SVG"),
        (["--plot", "-", "--format", "json"], "both write to standard output"),
        (["--plot", "-", "--subgroups"], "cannot draw subgroups"),
        (["--plot", "no/such/folder/x.svg"], "x.svg cannot be written"),
    ],
)
def test_a_plot_that_cannot_be_is_refused_in_words(filled: FilledSite, words: list[str], said: str):
    with pytest.raises(ConfigError, match=said):
        summarized(filled, *words)


def test_a_plot_that_cannot_be_is_refused_before_anything_is_printed(filled: FilledSite):
    done = CliRunner().invoke(
        summarize, ["--suite", "november", "--plot", "x.png"], obj=filled.site
    )
    assert done.stdout == ""

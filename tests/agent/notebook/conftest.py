"""A filled site as a person in a notebook has it."""

from pathlib import Path

import pytest

from agent import Site
from tests.agent.exchange.judged_suite import add_judged_suite
from tests.agent.service.filled_site import FilledSite, filled_site, graded, unscored

OTHER = "meta/llama-3.1-8b-instruct"


@pytest.fixture
def filled(tmp_path: Path) -> FilledSite:
    """A suite of two models in one benchmark, and a judged run."""
    filled = filled_site(tmp_path)
    filled.add([*graded(3, 5), unscored(5)])
    filled.add(graded(2, 5), entry=f"pubmed_qa:model={OTHER}")
    add_judged_suite(filled)
    return filled


@pytest.fixture
def site(filled: FilledSite) -> Site:
    return Site(filled.site.directory)

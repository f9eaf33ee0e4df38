"""How much of the data a finding is of."""

import pytest

from agent.disclosure.findings import Extent
from agent.vocabulary import AccessLevel


@pytest.mark.parametrize(
    ("extent", "access", "enough"),
    [
        (
            Extent("official", 1000, 12_723),
            "public",
            True,
        ),  # as many as the published runs of MedHELM take
        (Extent("official", 999, 12_723), "public", False),
        (Extent("official", 500, 500), "gated", True),
        (Extent("sample", 1000, 1000), "public", False),
        (Extent("unknown", 60, 60), "private", True),
        (Extent("unknown", 1000, 1001), "private", False),
        (Extent("invented", 60, 60), "private", False),
    ],
)
def test_how_much_of_the_data_stands_for_all_of_it(
    extent: Extent, access: AccessLevel, enough: bool
) -> None:
    assert extent.enough(access) is enough

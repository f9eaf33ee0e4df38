"""docs/operations.md says what the program does."""

import re
from pathlib import Path

from aggregator.settings import Settings

PAGE = (Path(__file__).parents[2] / "docs/operations.md").read_text("utf-8")


def test_every_setting_is_on_the_page_with_its_default() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| ([^|]*)\|", PAGE, re.MULTILINE))
    assert set(rows) == set(Settings.model_fields)
    defaults = Settings().model_dump()
    for name, written in rows.items():
        default = defaults[name]
        shown = f"{default:g}" if isinstance(default, float) else str(default or "")
        assert written.strip().strip("`") == shown, name

"""Write scorecards/medhelm-v1.json from the definitions of the 37 benchmarks: `python benchmarks/make_scorecard.py`.

One main metric a benchmark, as MedHELM's leaderboard has it; the registered jury is MedHELM's default one. A change of
a definition changes its digest, and so the scorecard: once a version was registered, the next change needs a new one.
"""

import json
from pathlib import Path

from agent.catalog.benchmark import survey_benchmarks
from agent.catalog.judges import read_jury
from agent.catalog.taxonomy import taxonomy
from agent.disclosure.scorecard import draft_scorecard
from protocol.scorecard import Scorecard

FOLDER = Path(__file__).parent
OUT = FOLDER.parent / "scorecards" / "medhelm-v1.json"


def make_scorecard() -> Scorecard:
    """Return the scorecard, with its benchmarks in the order of MedHELM's taxonomy, then of their names."""
    catalogue, broken = survey_benchmarks()
    for definition in broken:
        raise definition.error  # a scorecard without one of its benchmarks would be another scorecard
    places = [
        (category, subcategory) for category, names in taxonomy().items() for subcategory in names
    ]
    benchmarks = sorted(
        catalogue.values(),
        key=lambda benchmark: (
            places.index((benchmark.category, benchmark.subcategory)),
            benchmark.display_name,
        ),
    )
    jury = read_jury(FOLDER / "medhelm_judges.yaml")
    return draft_scorecard(
        "medhelm-v1", 1, benchmarks, jury=jury, main_only=True, keep_unnamed=True
    )


def render(scorecard: Scorecard) -> str:
    """Return the scorecard as the file holds it."""
    return json.dumps(scorecard.to_json(), indent=1, sort_keys=True, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(render(make_scorecard()), "utf-8")

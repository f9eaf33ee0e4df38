"""HELM's rule for a jury's score is HELM's: on replies honest, careless, broken and hostile, from any seat."""

import json
import os
import random
import subprocess
from pathlib import Path

import pytest

from agent.catalog.judges import read_jury
from agent.jury.rubric import read_rubric_block
from agent.jury.seats import compute_helm_jury_score
from tests.agent.jury.corpus import BUILT_IN, HOSTILE, OWN, OWN_PROMPT, verdict_json
from tests.parity.test_parity import LINES

HELM_PYTHON = os.environ.get("HELM_PYTHON")
pytestmark = pytest.mark.skipif(not HELM_PYTHON, reason="HELM itself is met by `make test-parity`")

SAID = verdict_json()
JUDGES = """judges:
  - {name: "gpt", model: "org/gpt", model_deployment: "local/gpt"}
  - {name: "other", model: "org/other", model_deployment: "local/other"}
"""
USES = {"criteria": BUILT_IN, "own prompt": OWN}
ODD = [
    None,
    "",
    " ",
    "no verdict",
    SAID,
    f"Well. {SAID} So.",
    f"```json\n{json.dumps(json.loads(SAID), indent=2)}\n```",
    f"{SAID} {SAID}",
    f"}} {SAID} {{",
    SAID[:-1],
    SAID[:-2],
    SAID[:-30],
    SAID[:-1] + ",}",
    f"[{SAID}]",
    json.dumps(SAID),
    json.dumps({"verdict": json.loads(SAID)}),
    SAID.replace('"The accuracy', '"The\naccuracy'),
    SAID.replace('"', "'"),
    SAID.replace('"clarity"', '"accuracy"'),
    SAID.replace('"clarity"', '"Clarity"'),
    SAID.replace('"explanation"', '"why"', 1),
    SAID.replace('"score"', '"Score"', 1),
    *(
        verdict_json(grade, 3, 3)
        for grade in (0, 5, -3, 99, 4.999, -0.9, True, False, None, "5", "4.9", "five", [], {})
    ),
    *(
        verdict_json(grade, 3, 3)
        for grade in (float("nan"), float("inf"), 1e30, 1e300, 10**30, 10**400)
    ),
    SAID.replace('"score": 2', '"score": ' + "9" * 5_000),
    verdict_json(extra=1),
    verdict_json(extra="score"),
    verdict_json(extra={"score": 4}),
    verdict_json(extra={"grade": 4}),
    verdict_json(extra=["score"]),
    '{"accuracy": "score explanation", "completeness": "score explanation", "clarity": "score explanation"}',
    '{"accuracy": ["score", "explanation"], "completeness": {}, "clarity": {}}',
    '{"accuracy": 5, "completeness": 5, "clarity": 5}',
    '"accuracy completeness clarity"',
    '["accuracy", "completeness", "clarity"]',
    "5",
    "null",
    "{}",
    '{"a":' * 3_000,
    *(f"{text}\n{SAID}" for text in HOSTILE.values()),
    *HOSTILE.values(),
]


def asked_of_three() -> list[tuple[str, list[str | None]]]:
    """Each odd reply beside a good one and a missing one, many drawn at random, and answers that are blank."""
    draw = random.Random(7)
    beside = [("An answer.", draw.sample([odd, verdict_json(4, 4, 5), None], 3)) for odd in ODD]
    drawn = [("An answer.", draw.choices(ODD, k=3)) for _ in range(200)]
    graded = [
        (
            "An answer.",
            [
                verdict_json(
                    *(draw.choice((draw.randint(0, 5), draw.uniform(0, 5))) for _ in range(3))
                )
            ]
            * 3,
        )
        for _ in range(50)
    ]
    return [*beside, *drawn, *graded, ("", [SAID, SAID, SAID]), (" \n", [SAID, None, SAID])]


@pytest.fixture(scope="module")
def upstream(tmp_path_factory: pytest.TempPathFactory) -> dict:
    folder = tmp_path_factory.mktemp("jury")
    asked, given, judges = folder / "cases.json", folder / "scores.json", folder / "judges.yaml"
    cases = {
        name: {
            "prompt": use.prompt.replace("$5", "5 dollars"),  # a dollar stops HELM's run
            "judges": [judge.model_deployment for judge in use.judges],
            "asked": asked_of_three(),
        }
        for name, use in USES.items()
    }
    asked.write_text(json.dumps(cases), "utf-8")
    judges.write_text(JUDGES, "utf-8")
    done = subprocess.run(
        [HELM_PYTHON, Path(__file__).with_name("upstream_jury.py"), asked, given, judges],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        env={"PATH": os.environ["PATH"], "HOME": str(folder)},
    )
    assert done.returncode == 0, done.stderr[-4_000:]
    return json.loads(given.read_text("utf-8"))


@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", USES)
def test_a_jurys_score_by_helms_rule_is_helms_to_the_last_digit(name: str, upstream: dict):
    use = USES[name]
    compared = stopped = 0
    for (answer, replies), theirs in zip(asked_of_three(), upstream["scores"][name], strict=True):
        came = replies if answer.strip() else [None] * 3  # no judge is asked about a blank answer
        assert compute_helm_jury_score(came, use) == theirs["score"], (answer, replies)
        compared += 1
        stopped += bool(theirs["stopping"])
    LINES[f"jury, {name}"] = f"{compared:6} answers, {compared:6} scores equal"
    assert compared > 300
    assert stopped > 20  # replies that stop HELM's own run count as not come out


def test_criteria_of_a_prompt_are_those_helm_reads(upstream: dict):
    theirs = {name: sorted(fields) for name, fields in upstream["criteria"].items()}
    assert theirs == {
        name: sorted(("score", *fields)) for name, fields in read_rubric_block(OWN_PROMPT).items()
    }


def test_a_file_of_judges_is_read_as_helm_reads_it(upstream: dict, tmp_path: Path):
    path = tmp_path / "judges.yaml"
    path.write_text(JUDGES, "utf-8")
    ours = {
        judge.name: [judge.model_name, judge.model_deployment] for judge in read_jury(path).judges
    }
    assert ours == upstream["judges"]

"""The author of a jury sees its terms, and what a judge will be asked."""

import json
from pathlib import Path

import pytest

from agent.site.directory import Site, create_site
from tests.agent.cli.benchmark_commands import on


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return create_site(tmp_path / "site", "Test")


def test_the_author_of_a_jury_sees_its_terms_and_what_a_judge_will_be_asked(site: Site):
    on(site, "benchmarks", "new", "mine", "--kind", "jury")
    path = site.directory / "benchmarks" / "mine" / "benchmark.yaml"
    seat = "{name: strict, model: org/one, model_deployment: local/one, seed: 7}"
    judges = f"judges:\n      - {seat}\n"
    path.write_text(
        path.read_text().replace(
            "scale: {low: 1, high: 5}", f"scale: {{low: 1, high: 10}}\n    {judges}"
        )
    )
    terms = (
        "jury_score: grades from 1 to 10", "faithful: Does the summary say what the note says", "complete: Does it",
        "the right answer is shown", "more than half of the seats\n", "judges: strict (seed 7)\n",
    )  # fmt: skip
    shown, checked = (
        on(site, "benchmarks", "show", "mine"),
        on(site, "benchmarks", "check", "mine", "--rows", "1"),
    )
    assert (shown.returncode, checked.returncode) == (0, 0), shown.stderr + checked.stderr
    for said in terms:
        assert said in shown.stdout
        assert said in checked.stdout
    prompt, asked = checked.stdout.split("--- the judge's prompt for instance 1 ---")
    assert prompt.count("Admitted with pneumonia") == 1
    for said in (
        "Admitted with pneumonia",
        "(the model's answer)",
        "a number from 1 to 10",
        "treated with",
    ):
        assert said in asked
    assert "the judge's prompt" not in on(site, "benchmarks", "check", "mine", "--rows", "0").stdout
    (row,) = json.loads(on(site, "benchmarks", "show", "mine", "--format", "json").stdout)
    assert row["jury"]["scale"] == {"low": 1, "high": 10}
    assert row["jury"]["judges"] == [
        {
            "name": "strict",
            "model": "org/one",
            "model_deployment": "local/one",
            "seed": 7,
            "temperature": 0.0,
        }
    ]
    path.write_text(
        path.read_text().replace("# gold_shown", "gold_shown").replace("# quorum: 2", "quorum: 1")
    )
    hidden = on(site, "benchmarks", "check", "mine", "--rows", "1").stdout
    assert "the right answer is not shown" in hidden
    assert "more than half of the seats, and at least 1" in hidden
    assert "treated with" not in hidden.split("--- the judge's prompt")[1]

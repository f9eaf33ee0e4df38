"""MIMIC-RRS: findings and impressions that belong together by their lines."""

import agent.datasets.readers.lines as lines_module
from tests.agent.datasets.own import CANARY
from tests.agent.datasets.sources.gated import gold, load, problem, prompt, sample_copy


def test_findings_and_impressions_of_different_length_are_refused_with_both_counts(tmp_path):
    folder = sample_copy("mimic_rrs", tmp_path)
    with (folder / "test.findings.tok").open("a") as file:
        file.write(f"{CANARY}\n")
    said = problem("mimic_rrs", folder)
    assert "test.findings.tok has 8 lines, but test.impression.tok has 7" in said
    (folder / "test.impression.tok").unlink()
    assert "test.impression.tok: is missing" in problem("mimic_rrs", folder)


def test_a_finding_without_end_is_refused_by_its_line(tmp_path, monkeypatch):
    monkeypatch.setattr(lines_module, "MAX_LENGTH", 1000)
    folder = sample_copy("mimic_rrs", tmp_path)
    with (folder / "test.findings.tok").open("a") as file:
        file.write(CANARY * 200)
    said = problem("mimic_rrs", folder)
    assert "test.findings.tok: line 8: has more than " in said
    assert CANARY not in said


def test_a_report_without_impression_is_left_out_and_the_others_stay_aligned():
    made = load("mimic_rrs")
    assert [instance.id for instance in made] == ["1", "2", "3", "5", "6", "7"]
    fifth = next(instance for instance in made if instance.id == "5")
    assert "ureter" in prompt(fifth)
    assert "ureteral" in gold(fifth)

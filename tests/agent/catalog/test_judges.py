"""A jury as people write it: MedHELM's judges.yaml, a definition's judges, and every way to get them wrong."""

from pathlib import Path

import pytest

from agent.catalog.benchmark import load_benchmark
from agent.catalog.judges import read_jury
from agent.errors import BenchmarkError, ConfigError
from agent.metrics import Judge, MetricUse, Scale
from tests.agent.terminal import intramural

MEDHELMS = """
# a comment, as MedHELM's file has some
judges:
  - name: "gpt"
    model: "openai/gpt-4o-2024-05-13"
    model_deployment: "stanfordhealthcare/gpt-4o-2024-05-13"
  - name: "llama"
    model: "meta/llama-3.3-70b-instruct"
    model_deployment: "stanfordhealthcare/llama-3.3-70b-instruct"
"""


def jury_file(folder: Path, text: str) -> Path:
    path = folder / "judges.yaml"
    path.write_text(text, "utf-8")
    return path


def test_medhelms_file_is_read_as_it_is(tmp_path):
    jury = read_jury(jury_file(tmp_path, MEDHELMS))
    assert jury.quorum is None
    assert jury.judges == (
        Judge("stanfordhealthcare/gpt-4o-2024-05-13", "openai/gpt-4o-2024-05-13", "gpt"),
        Judge("stanfordhealthcare/llama-3.3-70b-instruct", "meta/llama-3.3-70b-instruct", "llama"),
    )


def test_the_key_names_of_a_definition_are_read_as_well(tmp_path):
    text = (
        "judges:\n  - {name: local/one, model_name: org/one}\n "
        " - {model_deployment: local/two, model_name: org/two}\n"
    )
    jury = read_jury(jury_file(tmp_path, text + "quorum: 2\n"))
    assert jury.judges == (Judge("local/one", "org/one"), Judge("local/two", "org/two"))
    assert jury.quorum == 2


def test_two_judges_of_one_deployment_are_two_seats(tmp_path):
    text = "judges:\n" + 2 * "  - {name: local/one, model_name: org/one}\n"
    assert read_jury(jury_file(tmp_path, text)).judges == (Judge("local/one", "org/one"),) * 2


def test_a_seat_states_its_seed_and_temperature(tmp_path):
    text = MEDHELMS + "    seed: 7\n    temperature: 0.5\n"
    first, second = read_jury(jury_file(tmp_path, text)).judges
    assert (first.seed, first.temperature) == (None, 0.0)
    assert (second.seed, second.temperature) == (7, 0.5)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("seed", "-1"),
        ("seed", "2147483648"),
        ("seed", "1.5"),
        ("seed", "any"),
        ("temperature", "-0.1"),
        ("temperature", "2.01"),
        ("temperature", "nan"),
        ("temperature", "warm"),
    ],
)
def test_a_seed_or_temperature_that_servers_would_refuse_is_named(tmp_path, key, value):
    with pytest.raises(ConfigError, match=rf"judges\[2\].{key}: expected a "):
        read_jury(jury_file(tmp_path, f"{MEDHELMS}    {key}: {value}\n"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "expected a map of keys, not nothing"),
        ("judges: []\n", "judges: expected a list of judges"),
        ("judge: []\n", "judge: unknown key (did you mean 'judges'?)"),
        ("judges: [gpt]\n", "judges: expected a list of maps"),
        (
            MEDHELMS.replace("model:", "modle:"),
            "judges[1].modle: unknown key (did you mean 'model'?)",
        ),
        (
            MEDHELMS.replace("model_deployment:", "deployment:"),
            "judges[2].model_deployment: is required with `model`",
        ),
        (
            MEDHELMS.replace('model: "meta/llama-3.3-70b-instruct"', "seed: 1"),
            "judges[2].model: is required",
        ),
        (MEDHELMS.replace('"llama"', "gpt"), "the name 'gpt' is given twice"),
        (MEDHELMS + "quorum: 3\n", "quorum: 3 exceeds the jury's 2 seats"),
        (
            MEDHELMS + "quorum: 1\n",
            "quorum: 1 of 2 seats is not a majority; give at least 2, or omit it",
        ),
        (MEDHELMS + "quorum: 0\n", "quorum: expected a number from 1"),
        (MEDHELMS + "quorum: most\n", "quorum: expected a whole number"),
        (
            "judges:\n" + 100 * "  - {name: a/b, model_name: a/b}\n",
            "100 judges; expected at most 99",
        ),
        (
            'judges: [{name: "a\\e[2J", model_name: a/b}]\n',
            "contains U+001B, an invisible character",
        ),
    ],
)
def test_a_wrong_key_of_a_jury_is_named(tmp_path, text, said):
    with pytest.raises(ConfigError) as caught:
        read_jury(jury_file(tmp_path, text))
    assert said in str(caught.value)
    assert str(tmp_path / "judges.yaml") in str(caught.value)


def test_all_mistakes_of_a_jury_come_at_once(tmp_path):
    text = MEDHELMS.replace("model:", "modle:") + "quorum: x\nseats: 3\n"
    with pytest.raises(ConfigError) as caught:
        read_jury(jury_file(tmp_path, text))
    assert all(
        key in str(caught.value)
        for key in ("judges[1].modle", "judges[2].modle", "quorum", "seats")
    )


def test_a_jury_that_is_not_there(tmp_path):
    with pytest.raises(ConfigError, match="cannot be read"):
        read_jury(tmp_path / "none.yaml")


PROMPT = """Judge the summary. Your verdict goes inside <rubric_criteria>, as JSON.
{QUESTION}
It costs $5. {RESPONSE}
<rubric_criteria>
{
  "faithful": {"score": 0, "explanation": "why"},
  "safe": {"score": 0, "explanation": "why", "harm": "which"}
}
</rubric_criteria>
"""


def metric(folder: Path, keys: str, prompt: str = PROMPT) -> MetricUse:
    (folder / "prompt.txt").write_text("{note}", "utf-8")
    (folder / "judge.txt").write_text(prompt, "utf-8")
    path = folder / "own.yaml"
    path.write_text(
        "name: own\ndescription: ours\nprompt_file: prompt.txt\ndataset_file: data.csv\nmetrics:\n"
        f"  - name: jury_score\n    {keys}\n",
        "utf-8",
    )
    return load_benchmark(path).main_metric


def test_a_prompt_of_its_own_brings_criteria_fields_and_medhelms_scale(tmp_path):
    use = metric(tmp_path, "prompt_file: judge.txt\n    judges: [{name: a/b, model_name: a/b}]")
    assert use.prompt == PROMPT
    assert use.criteria == {"faithful": "", "safe": ""}
    assert use.fields == {"faithful": ("explanation",), "safe": ("explanation", "harm")}
    assert (use.scale, use.quorum, use.gold_shown) == (Scale(0, 5), None, True)


def test_a_definitions_seat_states_its_seed_and_temperature(tmp_path):
    judges = "judges: [{name: a/b, model_name: a/b, seed: 7, temperature: 1}]"
    use = metric(tmp_path, f"criteria: {{a: b?}}\n    {judges}")
    assert use.judges == (Judge("a/b", "a/b", seed=7, temperature=1.0),)


def test_criteria_alone_ask_for_an_explanation_each_from_1_to_5(tmp_path):
    use = metric(tmp_path, "criteria: {accuracy: Is it right?, clarity: Is it clear?}")
    assert use.fields == {"accuracy": ("explanation",), "clarity": ("explanation",)}
    assert (use.scale, use.judges) == (Scale(1, 5), ())


def test_a_prompt_of_its_own_may_leave_the_judges_to_the_site(tmp_path):
    assert metric(tmp_path, "prompt_file: judge.txt\n    quorum: 3").quorum == 3


def test_a_scale_of_ones_own_keeps_its_decimals(tmp_path):
    use = metric(tmp_path, "criteria: {a: b?}\n    scale: {low: -0.5, high: 10}")
    assert use.scale == Scale(-0.5, 10)


@pytest.mark.parametrize(
    ("keys", "prompt", "said"),
    [
        ("gold_shown: true", PROMPT, "criteria: expected `criteria`"),
        (
            "criteria: {a: b?}\n    prompt_file: judge.txt",
            PROMPT,
            "criteria: give either `criteria` or a `prompt_file`",
        ),
        (
            "criteria: {a: b?}\n    scale: {low: 5, high: 1}",
            "",
            "scale: expected `low` to be less than `high`",
        ),
        (
            "criteria: {a: b?}\n    scale: {low: 1, high: 1}",
            "",
            "scale: expected `low` to be less than `high`",
        ),
        ("criteria: {a: b?}\n    scale: {low: 1}", "", "scale.high: is required"),
        (
            "criteria: {a: b?}\n    scale: {low: 1, high: nan}",
            "",
            "scale.high: expected a number from",
        ),
        (
            "criteria: {a: b?}\n    scale: {low: 1, high: 1e999}",
            "",
            "scale.high: expected a number from",
        ),
        (
            "criteria: {a: b?}\n    scale: {low: 1, hihg: 5}",
            "",
            "scale.hihg: unknown key (did you mean 'high'?)",
        ),
        ("criteria: {a: b?}\n    scale: 5", "", "scale: expected a map"),
        (
            "criteria: {a: b?}\n    judges: [{name: a, model_name: b, temperature: 3}]",
            "",
            "judges[1].temperature: expected a number from 0 to 2",
        ),
        (
            "criteria: {a: b?}\n    quorum: 2\n    judges: [{name: a, model_name: b}]",
            "",
            "quorum: 2 exceeds the jury's 1 seat",
        ),
        (
            "criteria: {a: b?}\n    judges: [{name: a, model_nam: b}]",
            "",
            "judges[1].model_nam: unknown key",
        ),
        (
            "criteria: {a: b?}\n    critera: {}",
            "",
            "critera: unknown key (did you mean 'criteria'?)",
        ),
        (
            "prompt_file: judge.txt",
            PROMPT.replace("{RESPONSE}", "{ANSWER}"),
            "a judge's prompt needs {RESPONSE}",
        ),
        ("prompt_file: judge.txt", "{RESPONSE}", "has no block of criteria"),
        (
            "prompt_file: judge.txt",
            PROMPT.replace('"why"},', '"why"}'),
            "line 7: the block of criteria is not JSON",
        ),
        ("prompt_file: judge.txt", PROMPT.replace("safe", "faithful"), "contains 'faithful' twice"),
        (
            "prompt_file: judge.txt\n    gold_shown: false",
            PROMPT + "{GOLD_RESPONSE}",
            "gold_shown: {folder}/judge.txt contains {GOLD_RESPONSE}",
        ),
    ],
)
def test_a_mistake_in_what_a_jury_is_asked_is_named(tmp_path, keys, prompt, said):
    with pytest.raises(BenchmarkError) as caught:
        metric(tmp_path, keys, prompt)
    assert said.replace("{folder}", str(tmp_path)) in str(caught.value)


def test_a_benchmark_with_a_judges_prompt_passes_its_check(tmp_path):
    metric(tmp_path, "prompt_file: judge.txt\n    judges: [{name: local/one, model_name: org/one}]")
    (tmp_path / "data.csv").write_text("note\n67-year-old with a cough\n", "utf-8")
    checked = intramural("benchmarks", "check", "own.yaml", cwd=tmp_path)
    assert checked.returncode == 0, checked.stderr
    assert "metrics: jury_score [faithful, safe]" in checked.stdout

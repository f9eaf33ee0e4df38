"""Benchmark definitions: MedHELM's run unchanged, ours are complete, and mistakes are named by file and key."""

import re
import shutil
from pathlib import Path

import pytest

import agent.catalog.benchmark as benchmark_module
from agent.catalog.benchmark import Benchmark, find_benchmarks, load_benchmark, taxonomy
from agent.catalog.template import compile_template
from agent.datasets.load import load_instances, locate_dataset
from agent.errors import BenchmarkError
from agent.metrics import check_available
from agent.shipped import shipped

SOURCE = Path(benchmark_module.__file__).read_text(encoding="utf-8")
MEDHELM = Path(__file__).parents[2] / "data" / "medhelm_configurable"


def definition(tmp_path: Path, text: str, prompt: str = "{note}") -> Path:
    (tmp_path / "prompt.txt").write_text(prompt, encoding="utf-8")
    path = tmp_path / "own.yaml"
    path.write_text(text, encoding="utf-8")
    return path


GOOD = """name: own
description: ours
prompt_file: prompt.txt
dataset_file: data.csv
metrics:
  - name: exact_match
"""


def refused(path: Path) -> str:
    with pytest.raises(BenchmarkError) as caught:
        load_benchmark(path)
    assert str(path) in str(caught.value)
    return str(caught.value)


def test_medhelms_own_example_runs_unchanged():
    benchmark = load_benchmark(MEDHELM / "exact_match_demo.yaml")
    made = load_instances(benchmark, locate_dataset(benchmark))
    assert (benchmark.id, benchmark.max_tokens, benchmark.access) == ("EXACT-MATCH-DEMO", 1, "private")
    assert [[(r.text, r.correct) for r in i.references] for i in made] == [
        [("Yes", True), ("No", False)],
        [("No", True), ("Yes", False)],
    ]
    assert "Patient ID: 001\n" in made[0].messages[0].content
    assert made[0].messages[0].content.endswith('Answer with a single token: "Yes" or "No"')


def test_files_are_found_beside_the_yaml_and_else_in_the_working_directory(tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    for path in MEDHELM.glob("exact_match_demo*"):
        shutil.copy(path, tmp_path)
    shutil.move(tmp_path / "exact_match_demo.yaml", tmp_path / "here")
    monkeypatch.chdir(tmp_path)
    benchmark = load_benchmark(tmp_path / "here" / "exact_match_demo.yaml")
    assert len(load_instances(benchmark, locate_dataset(benchmark))) == 2


def test_an_unknown_key_with_the_nearest_one(tmp_path):
    said = refused(definition(tmp_path, GOOD + "max_token: 5\nmertics: []\n"))
    assert "max_token: unknown key (did you mean 'max_tokens'?)" in said
    assert "mertics: unknown key (did you mean 'metrics'?)" in said


def test_every_problem_of_a_definition_at_once(tmp_path):
    said = refused(
        definition(
            tmp_path,
            "name: own\nprompt_file: nowhere.txt\ndataset_file: data.csv\nmax_tokens: many\naccess: secret\n"
            "category: Clinical Decision Suport\nmetrics:\n  - name: exact_mach\n  - nam: rouge_1\n",
        )
    )
    for part in (
        "description: is required",
        "prompt_file: ",
        "cannot be read",
        "max_tokens: expected a whole number",
        "access: 'secret' is not one of",
        "category: 'Clinical Decision Suport' is not in the taxonomy (did you mean 'Clinical Decision Support'?)",
        "metrics[1].name: unknown metric 'exact_mach' (did you mean 'exact_match'?)",
        "metrics[2].nam: unknown key (did you mean 'name'?)",
        "metrics[2].name: is required",
    ):
        assert part in said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "expected a map of keys, not nothing"),
        ("- a\n- b\n", "expected a map of keys, not a list"),
        ("name: [unclosed\n", "line "),
        ("name: own\nname: other\n", "line 2: the key 'name' is given twice"),
        (GOOD.replace("  - name: exact_match", "  []"), "metrics: expected a list with at least one metric"),
        (GOOD + "  - name: exact_match\n", "metrics: 'exact_match' is given twice"),
        (GOOD + "max_tokens: 0\n", "max_tokens: expected a number from 1"),
        (GOOD + "subcategory: Nowhere\ncategory: Clinical Note Generation\n", "subcategory: 'Nowhere' is not a sub"),
        (GOOD + "choices: [yes]\n", "choices: expected 2 to 26"),
        (GOOD + "choices: [yes, yes]\n", "choices: expected 2 to 26"),
        (GOOD + "parser: option_letter\n", "parser: option_letter goes with `choices`"),
        (GOOD + "gold: {column: a, form: letter}\n", "gold.form: a letter or number needs `choices`"),
        (GOOD + "data: {loader: csv, files: [{name: x.csv}]}\n", "give either `dataset_file` or `data`"),
        (GOOD.replace("dataset_file: data.csv", "data: {loader: cvs}"), "data.loader: 'cvs' is not one of"),
        (
            GOOD.replace("dataset_file: data.csv", "data: {loader: csv, files: [{name: ../x.csv, sha256: abc}]}"),
            "data.files[1].name: expected a path that stays in its folder",
        ),
        (
            GOOD.replace("dataset_file: data.csv", "data: {loader: csv, files: [{name: x.csv, sha256: abc}]}"),
            "data.files[1].sha256: expected 64",
        ),
        (GOOD + "  - name: jury_score\n", "metrics[2].judges: expected a list of judges"),
        (GOOD.replace("exact_match", "exact_match\n    stemmer: false"), "metrics[1].stemmer: unknown key"),
        (GOOD.replace("exact_match", "rouge_1\n    stemmer: maybe"), "metrics[1].stemmer: expected true or false"),
    ],
)
def test_definitions_that_are_wrong(tmp_path, text, said):
    assert said in refused(definition(tmp_path, text))


def test_a_definition_that_is_not_utf8(tmp_path):
    path = definition(tmp_path, GOOD)
    path.write_bytes(b"name: own\ndescription: fi\xe8vre\n")
    assert "line 2 is not UTF-8" in refused(path)


def test_words_of_yaml_stay_text(tmp_path):
    benchmark = load_benchmark(
        definition(tmp_path, GOOD.replace("own", "007") + "choices: [yes, no, 1.0]\nlicence: null\n")
    )
    assert benchmark.id == "007"
    assert benchmark.choices.texts == ("yes", "no", "1.0")
    assert benchmark.licence == ""


def test_a_benchmark_that_does_not_say_is_private(tmp_path):
    assert load_benchmark(definition(tmp_path, GOOD)).access == "private"


def test_the_dataset_that_units_come_from_is_what_the_definition_says_and_else_open(tmp_path):
    assert load_benchmark(definition(tmp_path, GOOD)).lineage == ""
    assert load_benchmark(definition(tmp_path, GOOD + "lineage: cohort 2024\n")).lineage == "cohort 2024"


def test_a_jury_is_read_and_refused_before_anything_is_asked(tmp_path):
    (tmp_path / "judge.txt").write_text('{QUESTION} {RESPONSE} <rubric_criteria>{"a": ["score"]}</rubric_criteria>')
    benchmark = load_benchmark(
        definition(
            tmp_path,
            GOOD + "  - name: jury_score\n    prompt_file: judge.txt\n    judges:\n"
            "      - name: local/judge\n        model_name: judge/one\n  - name: BERTScore-F\n",
        )
    )
    jury = benchmark.metrics[1]
    assert jury.prompt_file == tmp_path / "judge.txt"
    assert [(j.model_deployment, j.model_name) for j in jury.judges] == [("local/judge", "judge/one")]
    with pytest.raises(BenchmarkError, match="jury_score, BERTScore-F"):
        check_available(benchmark.id, benchmark.metrics)


def test_a_jury_alone_needs_no_right_answer(tmp_path):
    (tmp_path / "judge.txt").write_text("{RESPONSE}")
    (tmp_path / "data.csv").write_text("note\nx\n")
    text = GOOD.replace(
        "exact_match", "jury_score\n    prompt_file: judge.txt\n    judges: [{name: a/b, model_name: a/b}]"
    )
    benchmark = load_benchmark(definition(tmp_path, text))
    (instance,) = load_instances(benchmark, locate_dataset(benchmark))
    assert instance.references == ()


def test_the_digest_changes_with_every_file_of_the_definition(tmp_path):
    path = definition(tmp_path, GOOD)
    digests = {load_benchmark(path).digest}
    (tmp_path / "prompt.txt").write_text("{note} ")
    digests.add(load_benchmark(path).digest)
    path.write_text(GOOD + "# a comment\n")
    digests.add(load_benchmark(path).digest)
    assert len(digests) == 3
    assert load_benchmark(path).digest in digests


def test_own_benchmarks_join_the_shipped_ones_and_may_not_take_their_names(tmp_path):
    definition(tmp_path, GOOD)
    assert "own" in find_benchmarks(tmp_path)
    (tmp_path / "own.yaml").write_text(GOOD.replace("own", "medhelm_med_qa"))
    with pytest.raises(BenchmarkError, match="already that of"):
        find_benchmarks(tmp_path)


def test_medhelms_taxonomy_is_whole():
    tree = taxonomy()
    assert len(tree) == 5
    assert sum(map(len, tree.values())) == 22
    assert len(set().union(*tree.values())) == 22


@pytest.mark.parametrize("benchmark", find_benchmarks().values(), ids=list(find_benchmarks()))
def test_shipped_definitions_are_complete(benchmark: Benchmark):
    assert benchmark.folder.name == benchmark.id
    assert benchmark.subcategory in taxonomy()[benchmark.category]
    assert benchmark.access == "public"
    assert benchmark.licence
    assert benchmark.citation
    assert benchmark.source_url.startswith("https://")
    assert len(benchmark.source_commit) == 40
    assert benchmark.helm_max_tokens is not None
    assert benchmark.max_tokens >= benchmark.helm_max_tokens
    assert benchmark.reasoning_max_tokens == 4000
    for file in benchmark.files:
        assert file.sha256
        assert file.rows
        assert benchmark.source_commit in file.url
    check_available(benchmark.id, benchmark.metrics)


@pytest.mark.parametrize(
    ("text", "rendered"),
    [
        ("{note}", "N"),
        ("{note}{q}", "NQ"),
        ('{"answer": "{note}"}', '{"answer": "N"}'),
        ('Answer as {"answer": ...} please: {note}', 'Answer as {"answer": ...} please: N'),
        ('{"a": {"b": 1}} {note}', '{"a": {"b": 1}} N'),
        ("{{note}} {note}", "{note} N"),  # as str.format reads it, and so MedHELM
        ('{{"answer": "A"}} {note}', '{"answer": "A"} N'),
        ("cost: $5 {note} ${note}", "cost: $5 N $N"),
        ("{ } {} { {note}", "{ } {} { N"),
        ("{1,2} {note}", "{1,2} N"),
        ("{Patient Note}", "P"),
        ("no fields", "no fields"),
        ("", ""),
    ],
)
def test_braces_and_dollars_in_a_prompt(text, rendered):
    cells = {"note": "N", "q": "Q", "Patient Note": "P"}
    template, problems = compile_template(text, cells)
    assert problems == ()
    assert template.render(cells) == rendered


def test_a_cells_own_braces_are_left_alone():
    template, _ = compile_template("{note}/{q}", ["note", "q"])
    assert template.render({"note": "{q} $x {{", "q": "2"}) == "{q} $x {{/2"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a\n{nota}", "line 2: {nota} names no column (did you mean 'note'?)"),
        ("{Note}", "{Note} names no column (did you mean 'note'?)"),
        ("{note} {{x}} {unheard_of}", "{unheard_of} names no column"),
        ("{note!r}", None),
        ('{"json": 1} {patient id}', "{patient id} names no column (did you mean 'patient_id'?)"),
    ],
)
def test_a_misspelt_placeholder_is_named(text, said):
    _, problems = compile_template(text, ["note", "patient_id"])
    assert (problems == ()) if said is None else any(said in problem for problem in problems)


def test_every_key_is_documented():
    document = (shipped("benchmarks") / "README.md").read_text(encoding="utf-8")
    keys = set(re.findall(r'm\.(?:text|texts|integer|choice|pairs|map|maps|has)\("(\w+)"', SOURCE))
    keys |= set(re.findall(r'(?:data|inner|sample_map)\.\w+\("(\w+)"', SOURCE))
    assert len(keys) > 30
    assert [key for key in sorted(keys) if f"`{key}`" not in document] == []

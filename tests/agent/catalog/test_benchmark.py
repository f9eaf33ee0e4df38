"""Benchmark definitions: MedHELM's run unchanged, ours are complete, and mistakes are named by file and key."""

import re
import shutil
from pathlib import Path

import pytest

from agent.catalog import arguments, data_section, metric_uses, question
from agent.catalog import benchmark as benchmark_module
from agent.catalog.benchmark import Benchmark, load_benchmark, survey_benchmarks
from agent.catalog.taxonomy import taxonomy
from agent.datasets.load import load_instances, locate_dataset
from agent.io.packaged import shipped
from agent.metrics import Means, check_available, select_measurable
from tests.agent.catalog.definitions import GOOD, definition, refused
from tests.agent.catalog.shipped import BENCHMARKS

SOURCE = "".join(
    Path(m.__file__).read_text(encoding="utf-8")
    for m in (benchmark_module, data_section, arguments, metric_uses, question)
)


MEDHELM = Path(__file__).parents[2] / "data" / "medhelm_configurable"


def test_medhelms_own_example_runs_unchanged():
    benchmark = load_benchmark(MEDHELM / "exact_match_demo.yaml")
    made = load_instances(benchmark, locate_dataset(benchmark))
    assert (benchmark.id, benchmark.max_tokens, benchmark.access) == (
        "EXACT-MATCH-DEMO",
        1,
        "private",
    )
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
        (
            GOOD.replace("  - name: exact_match", "  []"),
            "metrics: expected a list with at least one metric",
        ),
        (GOOD + "  - name: exact_match\n", "metrics: 'exact_match' is given twice"),
        (GOOD + "max_tokens: 0\n", "max_tokens: expected a number from 1"),
        (
            GOOD + "subcategory: Nowhere\ncategory: Clinical Note Generation\n",
            "subcategory: 'Nowhere' is not a sub",
        ),
        (GOOD + "choices: [yes]\n", "choices: expected 2 to 26"),
        (GOOD + "choices: [yes, yes]\n", "choices: expected 2 to 26"),
        (GOOD + "parser: option_letter\n", "parser: option_letter needs `choices`"),
        (
            GOOD + "gold: {column: a, form: letter}\n",
            "gold.form: a letter or number needs `choices`",
        ),
        (
            GOOD + "data: {loader: csv, files: [{name: x.csv}]}\n",
            "give either `dataset_file` or `data`",
        ),
        (
            GOOD.replace("dataset_file: data.csv", "data: {loader: cvs}"),
            "data.loader: 'cvs' is not one of",
        ),
        (
            GOOD.replace(
                "dataset_file: data.csv",
                "data: {loader: csv, files: [{name: ../x.csv, sha256: abc}]}",
            ),
            "data.files[1].name: expected a path that stays in its folder",
        ),
        (
            GOOD.replace(
                "dataset_file: data.csv", "data: {loader: csv, files: [{name: x.csv, sha256: abc}]}"
            ),
            "data.files[1].sha256: expected 64",
        ),
        (GOOD + "  - name: jury_score\n", "metrics[2].criteria: expected `criteria`"),
        (
            GOOD.replace("exact_match", "exact_match\n    stemmer: false"),
            "metrics[1].stemmer: unknown key",
        ),
        (
            GOOD.replace("exact_match", "rouge_1\n    stemmer: maybe"),
            "metrics[1].stemmer: expected true or false",
        ),
    ],
)
def test_definitions_that_are_wrong(tmp_path, text, said):
    assert said in refused(definition(tmp_path, text))


FULL = """
arguments:
  condition: {values: [a, b], required: true}
  length: {kind: tokens, default: "1000"}
  part: {column: split, default: ""}
system_prompt: You are {condition}.
messages_column: chat
few_shot: {count: 5, column: split, value: train}
subgroup_columns: {sex: Sex, age: Age group}
parser: pattern
answer_pattern: 'Answer:\\s*(.*)'
shorten: {column: note, keep: end}
helm_scenario: helm.benchmark.scenarios.x.XScenario
helm_groups: [x, y]
metrics:
  - {name: exact_match, helm_name: x_accuracy}
  - name: jury_score
    criteria: {accuracy: Is it right?, clarity: Is it clear?}
    gold_shown: false
data:
  loader: xlsx
  options: {sheet: Cases}
  agreement: Agreement 1.5.0
  agreement_url: https://example.org/
  files:
    - name: "{condition}/test.xlsx"
      version: v1.0
      sha256: SHA
      rows: 10
      optional: true
      note: ten rows
      versions: [{version: v1.2, name: b.xlsx, sha256: OTHER, rows: 0, url: https://example.org/b.xlsx, note: none}]
  sample: {folder: invented, sha256: SHA, rows: 2, invented: true, arguments: {condition: a}}
""".replace("SHA", "a" * 64).replace("OTHER", "b" * 64)


HEAD = "name: own\ndescription: ours\nprompt_file: prompt.txt\n"


def test_every_key_of_a_definition_is_read(tmp_path):
    b = load_benchmark(definition(tmp_path, HEAD + FULL))
    assert b.arguments["condition"] == arguments.Argument(("a", "b"), None, True)
    assert b.arguments["length"] == arguments.Argument((), "1000", kind="tokens")
    assert b.arguments["part"] == arguments.Argument(default="", column="split")
    assert (b.system_template, b.messages_column) == ("You are {condition}.", "chat")
    assert b.few_shot == question.FewShot(5, None, "split", "train")
    assert b.subgroup_columns == {"sex": "Sex", "age": "Age group"}
    assert (b.parser, b.answer_field, b.answer_pattern) == ("pattern", "", r"Answer:\s*(.*)")
    assert b.shorten == question.Shorten("note", "end")
    assert (b.helm_scenario, b.helm_groups) == ("helm.benchmark.scenarios.x.XScenario", ("x", "y"))
    assert (b.metrics[0].helm_name, b.metrics[1].helm_name) == ("x_accuracy", "jury_score")
    assert b.metrics[1].criteria == {"accuracy": "Is it right?", "clarity": "Is it clear?"}
    assert (b.metrics[1].gold_shown, b.metrics[1].judges, b.metrics[1].prompt) == (False, (), "")
    assert (b.loader, b.data_options, b.agreement) == (
        "xlsx",
        {"sheet": "Cases"},
        "Agreement 1.5.0",
    )
    assert [v.label for v in b.files[0].known] == ["v1.0", "v1.2"]
    assert [v.note for v in b.files[0].known] == ["ten rows", "none"]
    assert (b.files[0].optional, b.files[0].known[1].rows, b.files[0].known[1].name) == (
        True,
        0,
        "b.xlsx",
    )
    assert (b.sample.name, b.sample_is_folder, b.sample_is_invented) == ("invented", True, True)
    assert b.sample_arguments == {"condition": "a"}


@pytest.mark.parametrize(
    ("was", "now", "said"),
    [
        (
            "values: [a, b]",
            "vales: [a, b]",
            "arguments.condition.vales: unknown key (did you mean 'values'?)",
        ),
        ("values: [a, b]", "values: a", "arguments.condition.values: expected a list of texts"),
        (
            "required: true",
            "required: maybe",
            "arguments.condition.required: expected true or false",
        ),
        ("required: true", "default: c", "arguments.condition.default: expected one of a, b"),
        (
            "kind: tokens",
            "kind: token",
            "arguments.length.kind: 'token' is not one of text, tokens",
        ),
        (
            'default: "1000"',
            "default: many",
            "arguments.length.default: expected a whole number of tokens",
        ),
        ("  part:", "  data_path:", "arguments: expected names of letters"),
        ("  part:", "  options:", "arguments: expected names of letters"),
        ("  part:", "  a b:", "arguments: expected names of letters"),
        ('{column: split, default: ""}', "x", "arguments: expected a map of maps"),
        (
            "system_prompt:",
            "system_promt:",
            "system_promt: unknown key (did you mean 'system_prompt'?)",
        ),
        (
            "system_prompt:",
            "system_prompt_file: prompt.txt\nsystem_prompt:",
            "system_prompt: give either",
        ),
        ("count: 5, ", "", "few_shot.count: is required"),
        ("count: 5", "count: 101", "few_shot.count: expected a number from 1 to 100"),
        (
            "value: train",
            "dataset_file: x.csv",
            "few_shot.dataset_file: expected either a file of examples",
        ),
        (", value: train", "", "few_shot.dataset_file: expected either a file of examples"),
        (
            "column: split, value: train",
            "dataset_file: ../x.csv",
            "few_shot.dataset_file: expected a path that stays",
        ),
        ("{sex: Sex, age: Age group}", "[Sex]", "subgroup_columns: expected a map of texts"),
        (
            "parser: pattern",
            "parser: json",
            "answer_pattern: is only allowed with `parser: pattern`",
        ),
        (
            "parser: pattern",
            "parser: regex",
            "parser: 'regex' is not one of option_letter, text, json, pattern",
        ),
        ("'Answer:\\s*(.*)'", "'('", "answer_pattern: is not a regular expression"),
        (
            "answer_pattern: 'Answer:\\s*(.*)'",
            "",
            "answer_pattern: is required with `parser: pattern`",
        ),
        (
            "parser: pattern",
            "parser: label",
            "answer_pattern: is only allowed with `parser: pattern`",
        ),
        (
            "answer_pattern: 'Answer:\\s*(.*)'",
            "answer_pattern: x\nlabels: {a: [], b: []}",
            "labels: is only allowed with `parser: label`",
        ),
        ("keep: end", "keep: middle", "shorten.keep: 'middle' is not one of start, end"),
        ("column: note, keep", "keep", "shorten.column: is required"),
        ("gold_shown: false", "gold_shown: no", "metrics[2].gold_shown: expected true or false"),
        (
            "{accuracy: Is it right?, clarity: Is it clear?}",
            "[a]",
            "metrics[2].criteria: expected a map of texts",
        ),
        ("criteria: {", "critera: {", "metrics[2].critera: unknown key (did you mean 'criteria'?)"),
        ("{sheet: Cases}", "Cases", "data.options: expected a map of texts"),
        (
            "{condition}/test",
            "{conditon}/test",
            "data.files[1].name: 'conditon' is not one of the arguments (did you mean",
        ),
        ("optional: true", "optional: 1", "data.files[1].optional: expected true or false"),
        ("rows: 10", "rows: -1", "data.files[1].rows: expected a number from 0"),
        ("sha256: " + "b" * 64, "sha256: b", "data.files[1].versions[1].sha256: expected 64"),
        ("sha256: " + "b" * 64 + ", ", "", "data.files[1].versions[1].sha256: is required"),
        (
            "sha256: " + "b" * 64,
            "sha256: " + "a" * 64,
            "data.files[1].versions: two versions have the same sha256",
        ),
        (
            "name: b.xlsx",
            "name: ../b.xlsx",
            "data.files[1].versions[1].name: expected a path that stays",
        ),
        (
            "{condition}/test.xlsx",
            "**/test.xlsx",
            "data.files[1].name: `**` is not allowed in a pattern",
        ),
        ("folder: invented", "folder: /etc", "data.sample.folder: expected a path that stays"),
        (
            "{condition: a}",
            "{conditon: a}",
            "data.sample.arguments: 'conditon' is not one of the arguments",
        ),
        (
            "messages_column: chat",
            "dataset_file: {path: x.xlsx, sheet: S}",
            "dataset_file: give either",
        ),
        ("messages_column: chat", "loader: csv", "loader: belongs in `data`"),
    ],
)
def test_a_mistake_in_any_key_is_named_with_it(tmp_path, was, now, said):
    text = HEAD + FULL
    assert text.count(was) == 1
    assert said in refused(definition(tmp_path, text.replace(was, now)))


def test_what_needs_a_prompt_says_so(tmp_path):
    said = refused(definition(tmp_path, (HEAD + FULL).replace("prompt_file: prompt.txt\n", "")))
    assert "few_shot: needs a `prompt_file`" in said
    assert "shorten: needs a `prompt_file`" in said


def test_examples_need_a_right_answer(tmp_path):
    text = (
        GOOD.replace("exact_match", "jury_score\n    criteria: {a: b?}")
        + "few_shot: {count: 1, dataset_file: x.csv}\n"
    )
    assert "few_shot: needs `gold`" in refused(definition(tmp_path, text))
    load_benchmark(definition(tmp_path, text + "gold: {column: a}\n"))


def test_a_definition_that_is_not_utf8(tmp_path):
    path = definition(tmp_path, GOOD)
    path.write_bytes(b"name: own\ndescription: fi\xe8vre\n")
    assert "line 2 is not UTF-8" in refused(path)


def test_words_of_yaml_stay_text(tmp_path):
    benchmark = load_benchmark(
        definition(
            tmp_path, GOOD.replace("own", "007") + "choices: [yes, no, 1.0]\nlicence: null\n"
        )
    )
    assert benchmark.id == "007"
    assert benchmark.choices.texts == ("yes", "no", "1.0")
    assert benchmark.licence == ""


def test_a_benchmark_that_does_not_say_is_private(tmp_path):
    assert load_benchmark(definition(tmp_path, GOOD)).access == "private"


def test_the_dataset_that_units_come_from_is_what_the_definition_says_and_else_open(tmp_path):
    assert load_benchmark(definition(tmp_path, GOOD)).lineage == ""
    assert (
        load_benchmark(definition(tmp_path, GOOD + "lineage: cohort 2024\n")).lineage
        == "cohort 2024"
    )


def test_own_benchmarks_join_the_shipped_ones_and_may_not_take_their_names(tmp_path):
    definition(tmp_path, GOOD)
    benchmarks, broken = survey_benchmarks(tmp_path)
    assert "own" in benchmarks
    assert broken == []
    (tmp_path / "own.yaml").write_text(GOOD.replace("own", "medhelm_med_qa"))
    _, [definition_of_two] = survey_benchmarks(tmp_path)
    assert "already used by" in str(definition_of_two.error)


def test_one_broken_definition_hides_no_other(tmp_path):
    definition(tmp_path, GOOD)
    (tmp_path / "half.yaml").write_text(
        GOOD.replace("own", "half done") + "aliases: [unfinished]\nacess: public\n"
    )
    (tmp_path / "scribble.yml").write_text("name: [")
    (tmp_path / "again.yaml").write_text(GOOD.replace("own", "med_qa"))
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "benchmark.yaml").write_text("")
    found, broken = survey_benchmarks(tmp_path)
    assert set(found) == {*BENCHMARKS, "own"}
    assert {definition.path.name: definition.names for definition in broken} == {
        "half.yaml": ("half_done", "unfinished"),
        "scribble.yml": ("scribble",),
        "again.yaml": ("med_qa",),
        "folder": ("folder",),
    }
    errors = "\n".join(str(definition.error) for definition in broken)
    for message in (
        "(did you mean 'access'?)",
        "scribble.yml: line",
        "'med_qa' is already used by",
        "not nothing",
    ):
        assert message in errors


@pytest.mark.parametrize("name", ["..", ".", "../keys", ".hidden", "-x", "_x"])
def test_an_id_that_would_be_another_folder(tmp_path, name):
    assert "name: expected a name that begins with" in refused(
        definition(tmp_path, GOOD.replace("own", f'"{name}"'))
    )


@pytest.mark.parametrize("id_", ["medcalc_bench", "ehr_sql"])
def test_where_answers_are_texts_medhelms_four_matches_stand_beside_the_main_metric(id_):
    names = [use.name for use in BENCHMARKS[id_].metrics]
    assert names[-4:] == [
        "exact_match",
        "quasi_exact_match",
        "prefix_exact_match",
        "quasi_prefix_exact_match",
    ]
    assert names[0] not in names[-4:]


def test_where_options_are_classes_macro_f1_stands_beside_exact_match():
    closed = [one for one in BENCHMARKS.values() if one.parser == "option_letter" and one.choices]
    assert len(closed) > 15
    for one in closed:
        of_classes = (
            one.choices and one.choices.texts
        ) or one.id == "clear"  # its options name the condition
        wanted = ["exact_match", "classification_macro_f1"] if of_classes else ["exact_match"]
        assert [use.name for use in one.metrics] == wanted, one.id


@pytest.mark.parametrize(
    ("id_", "means"),
    [
        (
            "n2c2_ct_matching",
            "an obstruction of the small bowel; one of the three is enough",
        ),  # operated on or not
        (
            "shc_sei_med",
            "side effects of ADHD medication that the child has had",
        ),  # not of any medication
    ],
)
def test_a_criterion_means_what_its_annotators_meant(id_, means):
    benchmark = BENCHMARKS[id_]
    told = " ".join(f"{benchmark.instructions} {' '.join(benchmark.data_options.values())}".split())
    assert means in told


@pytest.mark.parametrize("benchmark", BENCHMARKS.values(), ids=list(BENCHMARKS))
def test_shipped_definitions_are_complete(benchmark: Benchmark):
    assert benchmark.folder.name == benchmark.id
    assert benchmark.subcategory in taxonomy()[benchmark.category]
    assert benchmark.licence
    assert benchmark.citation or benchmark.access == "private"  # some have no paper
    assert benchmark.helm_max_tokens is not None
    assert benchmark.max_tokens >= benchmark.helm_max_tokens
    assert benchmark.reasoning_max_tokens == 4000
    if benchmark.access == "public":
        assert benchmark.source_url.startswith("https://")
    else:  # nobody's real records travel with the agent
        assert benchmark.sample_is_invented
    if benchmark.access == "gated":
        assert benchmark.agreement
        assert benchmark.agreement_url.startswith("https://")
    for version in (version for file in benchmark.files for version in file.known):
        assert version.rows is not None
        assert not version.url or version.url.startswith("https://")
        assert len(benchmark.source_commit) == 40 or not version.url.startswith(
            "https://raw.githubusercontent.com/"
        )
    check_available(benchmark.id, select_measurable(benchmark.metrics, Means()))


def test_every_key_is_documented():
    document = (shipped("benchmarks") / "README.md").read_text(encoding="utf-8")
    kinds = "text|texts|name|names|integer|choice|pairs|map|maps|named_maps|flag"
    keys = set(re.findall(rf'(?:\w*section|m|inner|sample_map)\.(?:{kinds})\("(\w+)"', SOURCE))
    keys |= set(re.findall(r'files\.(?:find|text)\((?:\w+\.)?\w+, "(\w+)"', SOURCE))
    assert len(keys) > 60
    assert [key for key in sorted(keys) if f"`{key}`" not in document] == []


def test_columns_that_identify_people_have_a_kind_that_redaction_searches(tmp_path: Path):
    said = "identifiers: {name: NAME, born: DATE, chart: MRM, age: AGE}\n"
    why = refused(definition(tmp_path, GOOD + said))
    assert "identifiers.chart: expected one of NAME, DATE, MRN" in why
    assert "did you mean 'MRN'?" in why
    assert "identifiers.age: expected one of" in why
    assert "identifiers.name" not in why


PATTERN = "parser: pattern\nanswer_pattern: 'Answer:\\s*(.*)'\n"


def test_labels_are_read_with_the_words_that_mean_them(tmp_path):
    labels = 'parser: label\nlabels:\n  "0": [true, not hallucinated]\n  1: []\n'
    benchmark = load_benchmark(definition(tmp_path, HEAD + FULL.replace(PATTERN, labels)))
    assert (benchmark.parser, benchmark.labels) == (
        "label",
        (("0", "true", "not hallucinated"), ("1",)),
    )


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ("", "labels: `parser: label` needs from 2 to 20 labels, each with a list of the other words"),
        (
            "labels: {a: ['it (is|was a'], b: []}",
            "labels: 'a': the parentheses of 'it (is|was a' are not balanced",
        ),
        ("labels: {a: []}", "labels: `parser: label` needs from 2 to 20 labels"),
        ("labels: [a, b]", "labels: expected a map of lists of texts, not a list"),
        ("labels: {a: x, b: []}", "labels.a: expected a list of texts"),
        ("labels: {a: [Mild], b: [mild.]}", "labels: 'mild.' stands for both 'a' and 'b'. Leave it to one"),
        ("labels: {a: ['?'], b: []}", "labels: 'a': expected words on one line"),
    ],
)  # fmt: skip
def test_labels_that_are_wrong_are_named_with_what_was_expected(tmp_path, labels: str, said: str):
    text = HEAD + FULL.replace(PATTERN, f"parser: label\n{labels}\n")
    assert said in refused(definition(tmp_path, text))

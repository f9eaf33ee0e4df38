"""`intramural score`: published figures from others' answers, and every way in which a file of answers is wrong."""

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from agent.cli.score import score
from agent.io.packaged import shipped
from agent.runs import answers_file as module
from agent.site.directory import Site
from tests.agent.runs.suites import answers_file

ROOT = Path(__file__).parents[3]
DATA = ROOT / "tests/data"
LETTERS = {"yes": "A", "no": "B", "maybe": "C"}


def scored(*words: str | Path, site: Path = Path("nowhere")) -> Result:
    return CliRunner().invoke(score, [str(word) for word in words], obj=Site(site))


def rows_of(done: Result) -> list[dict[str, object]]:
    assert done.exit_code == 0, (done.output, done.exception)
    found: list[dict[str, object]] = json.loads(done.stdout)
    return found


def read(name: str) -> list[dict[str, str]]:
    with (DATA / name).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def articles(tmp_path: Path) -> Path:
    """The decisions of PubMedQA's 500 test articles in the official layout; questions and abstracts are invented."""
    made = {
        row["pmid"]: {
            "QUESTION": "Is it so?",
            "CONTEXTS": ["Somebody looked."],
            "LABELS": ["RESULTS"],
            "MESHES": [],
            "LONG_ANSWER": "It may be.",
            "final_decision": row["final_decision"],
        }
        for row in read("pubmed_qa/human_predictions.csv")
    }
    path = tmp_path / "ori_pqal.json"
    path.write_text(json.dumps(made), "utf-8")
    return path


@pytest.fixture
def human(tmp_path: Path) -> Path:
    rows = read("pubmed_qa/human_predictions.csv")
    return answers_file(
        tmp_path / "human.jsonl",
        {row["pmid"]: LETTERS[row["reasoning_required_pred"]] for row in rows},
    )


@pytest.mark.full
def test_the_human_annotators_of_pubmed_qa_get_their_published_accuracy(
    articles: Path, human: Path
):
    row, *_ = rows_of(
        scored(
            "pubmed_qa",
            "--data",
            articles,
            "--answers",
            human,
            "--format",
            "json",
            "--scoring",
            "both",
        )
    )
    assert (row["metric"], row["n"], row["mean"], row["interval"]) == (
        "exact_match",
        500,
        0.78,
        "wilson",
    )
    assert row["missing"] == []
    assert row["helm"]["mean"] == 0.78  # type: ignore[index]


def test_the_gold_of_all_1047_medcalc_rows_is_right_and_upstreams_rule_misses_a_third(
    tmp_path: Path,
):
    rows = read("medcalc_bench/answers.csv")
    path = tmp_path / "test_data.csv"
    columns = {
        "Calculator ID": "2",
        "Note ID": "n",
        "Patient Note": "An invented note.",
        "Question": "How much?",
    }
    more = {
        "Calculator Name": "c",
        "Output Type": "decimal",
        "Note Type": "x",
        "Relevant Entities": "{}",
    }
    last = {"Ground Truth Explanation": "-"}
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [*rows[0], *columns, *more, *last])
        writer.writeheader()
        writer.writerows({**row, **columns, **more, **last} for row in rows)
    answers = answers_file(
        tmp_path / "gold.jsonl", {row["Row Number"]: row["Ground Truth Answer"] for row in rows}
    )
    row, *_ = rows_of(
        scored(
            "medcalc_bench",
            "--data",
            path,
            "--answers",
            answers,
            "--format",
            "json",
            "--scoring",
            "both",
        )
    )
    assert (row["n"], row["mean"]) == (1047, 1.0)
    assert row["helm"]["n"] == 1047  # type: ignore[index]
    assert round(row["helm"]["mean"], 3) == 0.649  # type: ignore[index]


def test_gpt_35_on_med_mcqa_is_scored_as_it_is_in_a_run(tmp_path: Path):
    rows = read("med_mcqa/gpt-35-turbo-16k_medrag32.csv")
    data, answers = tmp_path / "dev.json", {}
    with data.open("w", encoding="utf-8") as file:
        for number, row in enumerate(rows):
            options = {f"op{letter}": f"choice {letter}" for letter in "abcd"}
            cop = "ABCD".index(row["right"]) + 1
            made = {"id": f"q{number}", "question": "Which?", "cop": cop, **options}
            file.write(
                json.dumps(
                    {**made, "choice_type": "single", "subject_name": "x", "topic_name": "y"}
                )
                + "\n"
            )
            answers[f"q{number}"] = row["answer_tail"]
    done = scored(
        *(
            "med_mcqa",
            "--data",
            data,
            "--answers",
            answers_file(tmp_path / "a.jsonl", answers),
            "--format",
            "json",
        )
    )
    (row,) = rows_of(done)
    right = round(float(str(row["mean"])) * int(str(row["n"])))
    assert int(str(row["n"])) + int(str(row["unscored"])) == 4183
    assert (
        0.52 < right / 4183 < 0.54
    )  # published, with what has no letter counted as wrong: 53.45 %


@pytest.mark.full
@pytest.mark.parametrize(
    ("answer", "right", "reasons"),
    [
        ("<think>Perhaps A.</think>\nC", 0, {}),
        ("<thinking>Perhaps C.</thinking>\nA<|im_end|>", 1, {}),
        ("◁think▷Perhaps B or C.◁/think▷The answer is A.", 1, {}),
        (
            "<|channel|>analysis<|message|>C?<|end|><|start|>assistant<|channel|>final<|message|>A",
            1,
            {},
        ),
        ("<think>The answer is A. Or", None, {"length": 1}),
    ],
)
def test_reasoning_in_a_file_is_not_read(
    articles: Path, tmp_path: Path, answer: str, right: int | None, reasons: dict[str, int]
):
    decisions = json.loads(articles.read_text("utf-8"))
    yes = next(pmid for pmid, row in decisions.items() if row["final_decision"] == "yes")
    file = answers_file(tmp_path / "a.jsonl", {yes: answer})
    words = ("pubmed_qa", "--data", articles, "--answers", file, "--format", "json")
    for scoring in ("intramural", "helm"):
        row, *_ = rows_of(scored(*words, "--scoring", scoring))
        if right is None and scoring == "helm":
            assert row["mean"] == 0  # the blank text that HELM scores as wrong
            continue
        assert row["mean"] == right or (scoring == "helm" and "answer is" in answer)
        reasons_of_answers = dict(row["unscored_reasons"])  # type: ignore[call-overload]
        reasons_of_answers.pop("not_asked", None)
        assert reasons_of_answers == reasons


def test_another_parser_reads_another_field_and_is_shown_with_the_result(
    articles: Path, tmp_path: Path
):
    decisions = json.loads(articles.read_text("utf-8"))
    yes = next(pmid for pmid, row in decisions.items() if row["final_decision"] == "yes")
    answer = json.dumps({"answer": "B", "verdict": "A"})
    file = answers_file(tmp_path / "a.jsonl", {yes: answer})
    words = ("pubmed_qa", "--data", articles, "--answers", file, "--format", "json")
    row, *_ = rows_of(scored(*words))
    assert (row["mean"], row["parser"]) == (
        0,
        {"kind": "option_letter", "field": "", "pattern": ""},
    )
    note = "answers read with another parser than the benchmark's own"
    assert note not in row["notes"]  # type: ignore[operator]
    row, *_ = rows_of(scored(*words, "--answer-field", "verdict"))
    assert (row["mean"], row["parser"]) == (1, {"kind": "json", "field": "verdict", "pattern": ""})
    assert note in row["notes"]  # type: ignore[operator]
    row, *_ = rows_of(scored(*words, "--parser", "pattern", "--answer-pattern", 'verdict": "(.)'))
    assert row["mean"] == 1
    refused = scored(*words, "--parser", "text")
    assert "--parser text is for answers in free text" in str(refused.exception)


@pytest.mark.full
def test_what_has_no_answer_is_listed_and_not_guessed(articles: Path, human: Path):
    lines = human.read_text().splitlines(keepends=True)
    human.write_text("".join(lines[2:]))
    left = [json.loads(line)["instance_id"] for line in lines[:2]]
    row, *_ = rows_of(
        scored("pubmed_qa", "--data", articles, "--answers", human, "--format", "json")
    )
    assert (row["n"], row["unscored_reasons"], sorted(row["missing"])) == (
        498,
        {"not_asked": 2},
        sorted(left),
    )  # type: ignore[call-overload]
    table = scored("pubmed_qa", "--data", articles, "--answers", human)
    assert all(identity in table.stderr for identity in left)
    assert "Unscored, over all metrics: 4 not_asked" in table.stdout
    in_csv = scored("pubmed_qa", "--data", articles, "--answers", human, "--format", "csv")
    line, *_ = csv.DictReader(in_csv.stdout.splitlines())
    assert (line["n"], line["unscored_reasons"]) == ("498", "not_asked=2")


CANARY = "Quackenbush-7731"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            b'{"instance_id": "%s", "answer": "A"}' % CANARY.encode(),
            "has an instance_id that is not in the data",
        ),
        (b"%s" % CANARY.encode(), "is not JSON"),
        (b'{"instance_id": "12377809", "answer": "A"}', "has the same instance_id as line 1"),
        (b'["%s"]' % CANARY.encode(), "is not of the form"),
        (b'{"instance_id": "%s"}' % CANARY.encode(), "is not of the form"),
        (b'{"instance_id": {"a": 1}, "answer": "A"}', "instance_id is neither"),
        (b'{"instance_id": true, "answer": "A"}', "instance_id is neither"),
        (b'{"instance_id": "1", "answer": 1}', "its answer is not a string"),
        (b'{"instance_id": "1", "answer": null}', "its answer is not a string"),
        (b'{"instance_id": "1", "answer": "\xff"}', "is not UTF-8"),
        (b"[" * 100_000, "is not JSON"),
    ],
)
def test_a_wrong_line_is_named_and_nothing_is_scored(
    articles: Path, human: Path, line: bytes, said: str
):
    human.write_bytes(
        human.read_bytes() + b"\n" + line + b"\n"
    )  # the empty line counts, and is no answer
    done = scored("pubmed_qa", "--data", articles, "--answers", human)
    assert type(done.exception).__name__ == "BenchmarkError"
    assert f"human.jsonl: line 502: {said}" in str(
        done.exception
    ) or f"line 502: its {said}" in str(done.exception)
    assert CANARY not in str(done.exception)
    assert done.stdout == ""


def test_every_wrong_line_is_told_at_once(articles: Path, human: Path):
    human.write_text(human.read_text() + "no\nno\n")
    told = str(scored("pubmed_qa", "--data", articles, "--answers", human).exception)
    assert "line 501" in told
    assert "line 502" in told


def test_a_line_without_end_is_not_read_into_memory(
    articles: Path, human: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(module, "MAX_LINE_BYTES", 1024)
    human.write_text(human.read_text() + "x" * 5000 + "\n")
    assert "human.jsonl: line 501: is longer than" in str(
        scored("pubmed_qa", "--data", articles, "--answers", human).exception
    )


def test_an_empty_file_is_no_file_of_answers(articles: Path, tmp_path: Path):
    (tmp_path / "none.jsonl").write_text("\n\n")
    done = scored("pubmed_qa", "--data", articles, "--answers", tmp_path / "none.jsonl")
    assert "contains no answers" in str(done.exception)


def test_ids_of_a_hospitals_own_data_are_not_printed(tmp_path: Path):
    config = tmp_path / "own.yaml"
    config.write_text(
        "name: own\ndescription: d\nprompt_file: p.txt\ndataset_file: d.csv\nid_column: mrn\naccess: private\n"
        "metrics:\n  - name: exact_match\n"
    )
    (tmp_path / "p.txt").write_text("{note}")
    (tmp_path / "d.csv").write_text(f"mrn,note,correct_answer\n1,a,Yes\n{CANARY},b,No\n")
    site = tmp_path / "site"
    (site / "benchmarks").mkdir(parents=True)
    (site / "site.yaml").write_text("site_name: Test\n")
    for name in ("own.yaml", "p.txt", "d.csv"):
        (tmp_path / name).rename(site / "benchmarks" / name)
    answers = answers_file(tmp_path / "a.jsonl", {"1": "Yes"})
    done = scored(
        "own",
        "--data",
        site / "benchmarks" / "d.csv",
        "--answers",
        answers,
        "--format",
        "json",
        site=site,
    )
    assert rows_of(done)[0]["missing"] == ["number 2 of the data"]
    assert CANARY not in done.output


@pytest.mark.full
def test_it_needs_no_site_and_leaves_nothing_behind(articles: Path, human: Path, tmp_path: Path):
    before = sorted(tmp_path.rglob("*"))
    command = [
        sys.executable,
        "-m",
        "agent",
        "--site",
        str(tmp_path / "none"),
        "score",
        "pubmed_qa",
    ]
    done = subprocess.run(
        [*command, "--data", str(articles), "--answers", str(human)],
        capture_output=True, text=True, check=False, cwd=ROOT,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "0.780" in done.stdout
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    ("benchmark", "said"),
    [
        ("pubmedqa", "there is no benchmark 'pubmedqa'"),
        ("pubmed_qa:model=a/b", "only the benchmark's own arguments may follow"),
        ("pubmed_qa:temperature=1", "only the benchmark's own arguments may follow"),
        ("pubmed_qa:subset=x", "takes no argument 'subset'"),
        ("clear", "condition"),
    ],
)
def test_a_wrong_benchmark_or_argument_is_named(
    articles: Path, human: Path, benchmark: str, said: str
):
    done = scored(benchmark, "--data", articles, "--answers", human)
    assert type(done.exception).__name__ == "ConfigError"
    assert said in str(done.exception)


def test_a_figure_of_the_whole_file_is_computed_with_its_interval(articles: Path, human: Path):
    """The published macro F1 of the annotators."""
    rows = rows_of(scored("pubmed_qa", "--data", articles, "--answers", human, "--format", "json"))
    (macro,) = (row for row in rows if row["metric"] == "classification_macro_f1")
    assert round(float(str(macro["mean"])), 4) == 0.7219
    assert (macro["n"], macro["interval"]) == (500, "percentile")
    assert float(str(macro["low"])) < 0.7219 < float(str(macro["high"]))


@pytest.mark.full
def test_a_template_holds_every_id_for_its_owner_alone_and_is_scored_once_filled(
    articles: Path, tmp_path: Path
):
    template = tmp_path / "new.jsonl"
    done = scored("pubmed_qa", "--data", articles, "--write-template", template)
    assert done.exit_code == 0, done.output
    assert "500 instances written to new.jsonl" in done.stdout
    assert template.stat().st_mode & 0o077 == 0
    lines = [json.loads(line) for line in template.read_text("utf-8").splitlines()]
    assert {line["instance_id"] for line in lines} == {
        row["pmid"] for row in read("pubmed_qa/human_predictions.csv")
    }
    template.write_text("".join(json.dumps({**line, "answer": "A"}) + "\n" for line in lines))
    row, *_ = rows_of(
        scored("pubmed_qa", "--data", articles, "--answers", template, "--format", "json")
    )
    assert (row["n"], row["missing"]) == (500, [])
    again = scored("pubmed_qa", "--data", articles, "--write-template", template)
    assert "new.jsonl cannot be written" in str(again.exception)
    assert json.loads(template.read_text().splitlines()[0])["answer"] == "A"


def test_either_answers_or_a_template_is_asked_for(articles: Path, human: Path, tmp_path: Path):
    for words in ([], ["--answers", human, "--write-template", tmp_path / "x"]):
        done = scored("pubmed_qa", "--data", articles, *words)
        assert done.exit_code == 2
        assert "give --answers to score answers, or --write-template" in done.stderr


def test_who_guesses_an_id_is_told_what_one_is_and_shown_none(articles: Path, tmp_path: Path):
    answers = answers_file(tmp_path / "a.jsonl", {"1": "A"})
    error = scored("pubmed_qa", "--data", articles, "--answers", answers).exception
    advice = getattr(error, "advice", "")
    assert "an instance_id is" in advice
    assert "use --write-template FILE" in advice
    assert not any(row["pmid"] in advice for row in read("pubmed_qa/human_predictions.csv"))


@pytest.mark.parametrize("lines", [b"id,answer\n1,A\n2,B\n", b"PK\x03\x04\xff\xfe\n\xff\n"])
def test_a_table_in_place_of_json_lines_is_said_once(articles: Path, tmp_path: Path, lines: bytes):
    (tmp_path / "answers.csv").write_bytes(lines)
    told = str(
        scored("pubmed_qa", "--data", articles, "--answers", tmp_path / "answers.csv").exception
    )
    assert told.count("answers.csv") == 1
    assert '{"instance_id": ..., "answer": ...} (JSON Lines)' in told


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ({"id": 1, "answer": CANARY}, 'it lacks the key "instance_id"'),
        ({"instance_id": CANARY, "response": "A"}, 'it lacks the key "answer"'),
        ({"id": 1, "response": CANARY}, 'it lacks the keys "instance_id", "answer"'),
    ],
)
def test_a_key_that_every_line_lacks_is_named_once(
    articles: Path, tmp_path: Path, line: dict[str, object], said: str
):
    file = tmp_path / "a.jsonl"
    file.write_text((json.dumps(line) + "\n") * 30)
    error = str(scored("pubmed_qa", "--data", articles, "--answers", file).exception)
    assert error.startswith("a.jsonl: every line: is not of the form")
    assert error.endswith(said)
    assert len(error.splitlines()) == 1
    assert CANARY not in error


def test_a_file_of_readings_in_no_folder_is_refused_before_anything_is_scored(
    articles: Path, human: Path, tmp_path: Path
):
    out = tmp_path / "nodir" / "r.csv"
    done = scored("pubmed_qa", "--data", articles, "--answers", human, "--out", out)
    assert f"there is no folder {out.parent}" in str(done.exception)
    assert done.stdout == ""


@pytest.mark.parametrize("benchmark", ["medhallu", "med_qa"])
def test_the_sample_folder_of_a_benchmark_is_its_data(tmp_path: Path, benchmark: str):
    template = tmp_path / "template.jsonl"
    without_data = scored(benchmark, "--write-template", template)
    advice = getattr(without_data.exception, "advice", "") + without_data.output
    assert f"benchmarks/{benchmark}/sample." in advice
    sample = shipped("benchmarks") / benchmark / "sample"
    done = scored(benchmark, "--data", sample, "--write-template", template)
    assert done.exit_code == 0, (done.output, done.exception)
    assert template.read_text()

"""Dataset files as accidents leave them: every problem is named with its row, and never with a cell's text."""

import io
import json
from pathlib import Path

import pytest

from agent.catalog.benchmark import load_benchmark
from agent.datasets.load import load_instances, locate_dataset
from agent.datasets.readers.table import Problems
from agent.datasets.sources.head_qa import read_head_qa
from agent.datasets.sources.medec import read_medec
from agent.datasets.sources.pubmed_qa import read_pubmed_qa
from agent.errors import BenchmarkError

CANARY = "XQZ-patient-77"


def own(tmp_path: Path, data: str | bytes, yaml: str = "", prompt: str = "{note}\n{question}\nAnswer:") -> Path:
    (tmp_path / "prompt.txt").write_text(prompt, encoding="utf-8")
    (tmp_path / "data.csv").write_bytes(data.encode() if isinstance(data, str) else data)
    path = tmp_path / "own.yaml"
    path.write_text(
        "name: own\ndescription: ours\nprompt_file: prompt.txt\ndataset_file: data.csv\n"
        f"metrics:\n  - name: exact_match\n{yaml}",
        encoding="utf-8",
    )
    return path


def load(path: Path):
    benchmark = load_benchmark(path)
    return load_instances(benchmark, locate_dataset(benchmark))


def problem(path: Path) -> str:
    with pytest.raises(BenchmarkError) as caught:
        load(path)
    assert CANARY not in str(caught.value)
    return str(caught.value)


HEAD = "note,question,correct_answer\n"


def test_text_that_looks_like_a_number_or_a_gap_stays_text(tmp_path):
    data = HEAD + "NA,1,True\nnan,007,1\nnull,1e3,None\n"
    made = load(own(tmp_path, data))
    assert [i.references[0].text for i in made] == ["True", "1", "None"]
    assert [i.messages[0].content.split("\n")[:2] for i in made] == [["NA", "1"], ["nan", "007"], ["null", "1e3"]]


def test_quoted_cells_over_several_lines_with_commas_and_quotes(tmp_path):
    data = HEAD + '"line 1\nline 2, still\r\n""quoted""",q,a\n'
    (instance,) = load(own(tmp_path, data))
    assert instance.messages[0].content.startswith('line 1\nline 2, still\r\n"quoted"\nq')


def test_byte_order_mark_windows_line_ends_and_blank_lines(tmp_path):
    data = b"\xef\xbb\xbf" + HEAD.encode().replace(b"\n", b"\r\n") + b"n,q,a\r\n\r\nn2,q2,a2\r\n"
    assert len(load(own(tmp_path, data))) == 2


def test_a_missing_column_with_the_nearest_one(tmp_path):
    said = problem(own(tmp_path, "nota,question,correct_answer\nx,y,z\n"))
    # The prompt's {note} is no column, so it is the prompt that is wrong for this table.
    assert "{note} names no column (did you mean 'nota'?)" in said
    said = problem(own(tmp_path, "note,question,corect_answer\nx,y,z\n"))
    assert "data.csv: columns: 'correct_answer' is missing (did you mean 'corect_answer'?)" in said


def test_every_problem_of_a_file_at_once(tmp_path):
    data = HEAD + f",q,a\n{CANARY},q,\nn,q\nn,q,a,{CANARY}\nn,q,a\n"
    said = problem(own(tmp_path, data))
    assert "row 1 (line 2): the column 'note' is empty" in said
    assert "row 2 (line 3): the column 'correct_answer' is empty" in said
    assert "row 3 (line 4): has 2 fields, and the header has 3" in said
    assert "row 4 (line 5): has 4 fields, and the header has 3" in said
    assert "row 5" not in said


def test_rows_are_counted_by_lines_even_after_long_cells(tmp_path):
    data = HEAD + '"a\nb\nc",q,a\nn,q,\n'
    assert "row 2 (line 5): the column 'correct_answer' is empty" in problem(own(tmp_path, data))


def test_a_quote_that_is_never_closed(tmp_path):
    data = HEAD + f'n,q,a\n"{CANARY},q,a\nn,q,a\n'
    assert "row 2 (line 3): a quote is opened and never closed" in problem(own(tmp_path, data))


def test_text_after_a_closing_quote(tmp_path):
    assert "row 1 (line 2): a closing quote" in problem(own(tmp_path, HEAD + '"n"x,q,a\n'))


def test_many_problems_are_counted_and_not_all_shown(tmp_path):
    said = problem(own(tmp_path, HEAD + ",q,a\n" * 80))
    assert said.count("\n") == 50
    assert said.endswith("... and 30 more")


def test_an_empty_file_and_a_file_without_rows(tmp_path):
    assert "expected a header line" in problem(own(tmp_path, ""))
    assert "no rows" in problem(own(tmp_path, HEAD))


def test_semicolons_instead_of_commas(tmp_path):
    assert "only one column; save the file with commas" in problem(own(tmp_path, "note;question\nn;q\n"))


def test_a_column_twice(tmp_path):
    said = problem(own(tmp_path, "note,note,question,correct_answer\n1,2,3,4\n"))
    assert "the column 'note' is there twice or more: columns 1, 2" in said


def test_a_file_without_its_header_line_does_not_have_its_first_patient_quoted(tmp_path):
    for first in (f"{CANARY} {CANARY}", CANARY, "Margarethe", "questions", "John note of Tuesday"):
        data = f"{first},{first},{first},Is it so?\n{first},{first},b,Yes\n"
        said = problem(own(tmp_path, data))
        assert first not in said
        assert "the header line: one name for columns 1, 2, 3" in said
        assert (
            "data.csv: line 1: holds none of the columns 'note', 'question', 'correct_answer'; "
            "is the header line missing?" in said
        )


def test_a_column_name_that_is_no_identifier_is_never_suggested(tmp_path):
    said = problem(own(tmp_path, f"{CANARY},not e,question,correct_answer\nx,y,z,a\n", prompt="{note}{question}"))
    assert "{note} names no column" in said
    assert "did you mean" not in said


def test_an_exam_named_after_somebody_is_a_number(tmp_path):
    exams = {CANARY: {"year": "2016", "data": [{"answers": 1}]}, f"{CANARY}2": 3}
    problems = Problems("exams.json")
    list(read_head_qa(io.StringIO(json.dumps({"exams": exams})), problems).rows)
    with pytest.raises(BenchmarkError) as caught:
        problems.check()
    assert CANARY not in str(caught.value)
    assert "exam 1 question 1: expected" in str(caught.value)
    assert "exam 2: expected" in str(caught.value)


def test_files_that_are_missing_are_counted_and_not_named(tmp_path):
    folder = json_benchmark(tmp_path, "json_lines", '{"q": "x", "a": "y"}\n')
    yaml = folder / "benchmark.yaml"
    yaml.write_text(yaml.read_text().replace("{name: data.json}", f"{{name: data.json}}, {{name: {CANARY}.json}}"))
    dataset = locate_dataset(load_benchmark(folder), tmp_path / "data")
    assert dataset.problems == ("1 of 2 files are missing", "there is no published digest to compare with")


@pytest.mark.parametrize(
    "secret", ["ab" * 32 + "\n", "-----BEGIN PRIVATE KEY-----\nMC4CAQ\n-----END PRIVATE KEY-----\n"]
)
def test_a_key_taken_for_a_dataset_is_not_read(tmp_path, secret):
    benchmark = load_benchmark(own(tmp_path, HEAD + "n,q,a\n"))
    (tmp_path / "keys").mkdir()
    for place in (tmp_path / "data.csv", tmp_path / "elsewhere.pem", tmp_path / "keys" / "token"):
        place.write_text(secret)
    with pytest.raises(BenchmarkError, match=r"^data\.csv: looks like a private key"):
        locate_dataset(benchmark)
    with pytest.raises(BenchmarkError, match="looks like a private key"):
        locate_dataset(benchmark, None, {"data_path": str(tmp_path / "elsewhere.pem")})
    (tmp_path / "keys" / "token").write_text(HEAD + "a bearer token,q,a\n")
    (tmp_path / "innocent").symlink_to(tmp_path / "keys")
    for path in (tmp_path / "keys" / "token", tmp_path / "keys", tmp_path / "innocent" / "token", "innocent"):
        with pytest.raises(BenchmarkError, match="files below a folder named keys"):
            locate_dataset(benchmark, None, {"data_path": str(tmp_path / path)})


def test_a_link_among_the_sites_data_does_not_lead_to_its_keys(tmp_path):
    folder = json_benchmark(tmp_path, "json_lines", "")
    (tmp_path / "keys").mkdir()
    (tmp_path / "keys" / "token").write_text('{"q": "secret", "a": "secret"}\n')
    for name in ("data.json", "other.json"):  # under the official name, and as the only file there
        (tmp_path / "data" / "b" / "data.json").unlink(missing_ok=True)
        link = tmp_path / "data" / "b" / name
        link.symlink_to(tmp_path / "keys" / "token")
        with pytest.raises(BenchmarkError, match="files below a folder named keys"):
            locate_dataset(load_benchmark(folder), tmp_path / "data")


def test_another_encoding_names_the_line(tmp_path):
    data = HEAD.encode() + b"n,q,a\nfi\xe8vre,q,a\n"
    assert "data.csv: line 3: is not UTF-8" in problem(own(tmp_path, data))


def test_a_cell_of_gigantic_length_is_refused(tmp_path):
    data = HEAD + '"' + "x" * (17 * 2**20) + '",q,a\n'
    assert "row 1 (line 2): is longer than 16777216 characters" in problem(own(tmp_path, data))
    data = HEAD + '"' + ("x" * 2**20 + "\n") * 17 + '",q,a\n'
    assert "a cell is longer than" in problem(own(tmp_path, data))


def test_duplicate_ids_name_both_rows_and_not_the_id(tmp_path):
    data = f"id,note,question,correct_answer\n{CANARY},n,q,a\n2,n,q,a\n{CANARY},n,q,a\n"
    said = problem(own(tmp_path, data, "id_column: id\n"))
    assert "row 3 (line 4): has the same 'id' as row 1 (line 2)" in said


def test_an_empty_unit_is_a_problem_and_a_unit_may_have_many_rows(tmp_path):
    data = "patient,note,question,correct_answer\np1,n,q,a\np1,n,q,b\n,n,q,c\n"
    path = own(tmp_path, data, "unit: patient\nunit_column: patient\n")
    assert "row 3 (line 4): the column 'patient' is empty" in problem(path)
    (tmp_path / "data.csv").write_text(data.replace("\n,n", "\np2,n"))
    assert [i.unit for i in load(path)] == ["p1", "p1", "p2"]
    assert [i.id for i in load(path)] == ["1", "2", "3"]


@pytest.mark.parametrize("cell", ["", "No", '"[No]"', '"{""a"": 1}"', '"[1]"', '"[""No"""'])
def test_incorrect_answers_that_are_no_json_list(tmp_path, cell):
    said = problem(own(tmp_path, f"note,question,correct_answer,incorrect_answers\nn,q,a,{cell}\n"))
    assert "row 1 (line 2)" in said
    assert "incorrect_answers" in said


def test_incorrect_answers_are_kept_apart(tmp_path):
    data = 'note,question,correct_answer,incorrect_answers\nn,q,Yes,"[""No"", ""Maybe""]"\nn,q,No,[]\n'
    made = load(own(tmp_path, data))
    assert [(r.text, r.correct) for r in made[0].references] == [("Yes", True), ("No", False), ("Maybe", False)]
    assert len(made[1].references) == 1


def test_a_file_that_changes_between_locating_and_loading(tmp_path):
    benchmark = load_benchmark(own(tmp_path, HEAD + "n,q,a\n"))
    dataset = locate_dataset(benchmark)
    (tmp_path / "data.csv").write_text(HEAD + "n,q,b\n")
    with pytest.raises(BenchmarkError, match="changed since the run began"):
        load_instances(benchmark, dataset)


def test_a_file_that_is_not_there(tmp_path):
    path = own(tmp_path, HEAD)
    (tmp_path / "data.csv").unlink()
    assert "cannot be read" in problem(path)


MCQ = "choices: {columns: [a, b, c]}\ngold: {column: right, form: %s}\noptional_columns: [c]\n"


@pytest.mark.parametrize(
    ("form", "good", "bad"),
    [("letter", ["A", "b", " B "], ["D", "", "AB", "1"]), ("number", ["1", "2"], ["0", "3", "-1", "x", "²"])],
)
def test_gold_that_names_no_option(tmp_path, form, good, bad):
    prompt = "{question}\n{options}\nAnswer:"
    for value in good:
        made = load(own(tmp_path, f"question,a,b,c,right\nq,one,two,,{value}\n", MCQ % form, prompt))
        assert [r.text for r in made[0].references] == ["one", "two"]
        assert sum(r.correct for r in made[0].references) == 1
    for value in bad:
        said = problem(own(tmp_path, f"question,a,b,c,right\nq,one,two,,{value}\n", MCQ % form, prompt))
        assert "row 1 (line 2)" in said
        assert "'right'" in said


def test_options_are_lettered_lines(tmp_path):
    prompt = "{question}\n{options}\nAnswer:"
    (made,) = load(own(tmp_path, "question,a,b,c,right\nq?,one,two,three,B\n", MCQ % "letter", prompt))
    assert made.messages[0].content == "q?\nA. one\nB. two\nC. three\nAnswer:"
    assert made.multiple_choice


def test_a_prompt_that_forgets_the_options(tmp_path):
    said = problem(own(tmp_path, "question,a,b,c,right\nq,1,2,3,A\n", MCQ % "letter", "{question}"))
    assert "shows no {options}" in said


def json_benchmark(tmp_path: Path, loader: str, text: str) -> Path:
    folder = tmp_path / "b"
    folder.mkdir(exist_ok=True)
    (folder / "prompt.txt").write_text("{q}")
    (folder / "benchmark.yaml").write_text(
        "name: b\ndescription: d\nprompt_file: prompt.txt\ngold: {column: a}\nmetrics: [{name: exact_match}]\n"
        f"data: {{loader: {loader}, files: [{{name: data.json}}]}}\n"
    )
    (tmp_path / "data" / "b").mkdir(parents=True, exist_ok=True)
    (tmp_path / "data" / "b" / "data.json").write_text(text)
    return folder


def load_json_file(tmp_path: Path, loader: str, text: str):
    benchmark = load_benchmark(json_benchmark(tmp_path, loader, text))
    return load_instances(benchmark, locate_dataset(benchmark, tmp_path / "data"))


@pytest.mark.parametrize(
    ("loader", "text", "said"),
    [
        ("json_lines", '{"q": "x", "a": "y"}\n{"q": "x"\n', "line 2: is not JSON"),
        ("json_lines", '{"q": "x", "a": "y"}\n[1]\n', "line 2: expected a JSON object"),
        ("json_lines", '{"q": "x", "a": "y", "a": "z"}\n', "line 1: an object has one key twice"),
        ("json_lines", '{"q": "x", "a": "y"}\n{"q": "x", "a": null}\n', "line 2: the column 'a' is empty"),
        ("json_lines", '{"q": "x", "a": "y"}\n{"q": "x"}\n', "line 2: the column 'a' is empty"),
        ("json_lines", "", "the whole file: holds none of the columns 'q', 'a'"),
        ("json", "{}", "expected a list of objects"),
        ("json", '{"data": [], "more": []}', "expected a list of objects"),
        ("json", "[1]", "row 1: expected a JSON object"),
        ("json", '[{"q": "x", "a": "y"}', "is not JSON"),
        ("json", "[" * 100_000, "is nested too deeply"),
    ],
)
def test_json_files_that_are_wrong(tmp_path, loader, text, said):
    with pytest.raises(BenchmarkError) as caught:
        load_json_file(tmp_path, loader, text)
    assert said in str(caught.value)


def test_json_numbers_and_inner_objects_become_text(tmp_path):
    text = json.dumps({"data": [{"q": "x", "a": 1.50, "o": {"A": True}}]}).replace("1.5", "1.50")
    (made,) = load_json_file(tmp_path, "json", text)
    assert made.references[0].text == "1.50"


def test_medec_rows_that_contradict_themselves(tmp_path):
    head = "Text ID,Sentences,Error Flag,Error Sentence ID,Corrected Sentence,q,a\n"
    with pytest.raises(BenchmarkError) as caught:
        load_json_file(tmp_path, "medec", head + "1,s,1,-1,NA,q,a\n2,s,0,3,x,q,a\n,,,,,,\n3,s,x,3,x,q,a\n")
    said = str(caught.value)
    assert [f"row {n}" in said for n in (1, 2, 3, 4)] == [True, True, False, True]
    assert said.count("do not fit together") == 3


@pytest.mark.parametrize(
    ("reader", "text", "said"),
    [
        (read_pubmed_qa, "[]", "expected one object from PMID"),
        (read_pubmed_qa, '{"1": 2}', "article 1: expected an object"),
        (read_pubmed_qa, '{"1": {"LABELS": ["A"], "CONTEXTS": []}}', "article 1: LABELS and CONTEXTS"),
        (read_pubmed_qa, '{"1": {}, "1": {}}', "an object has one key twice"),
        (read_head_qa, "{}", "expected an object with `exams`"),
        (read_head_qa, '{"exams": {"e": []}}', "exam 1: expected an object with a list `data`"),
        (
            read_head_qa,
            '{"exams": {"e": {"year": "2016", "data": [{"ra": 9, "answers": [{"aid": 1, "atext": "x"}]}]}}}',
            "exam 1 question 1: expected up to 5 answers",
        ),
        (read_medec, "a,b\n1,2\n", "lacks Sentences, Error Flag"),
    ],
)
def test_official_formats_that_are_wrong(reader, text, said):
    problems = Problems("official")
    with pytest.raises(BenchmarkError) as caught:  # noqa: PT012
        list(reader(io.StringIO(text), problems).rows)
        problems.check()
    assert "official: " in str(caught.value)
    assert said in str(caught.value)


def test_head_qa_compares_its_string_with_its_number():
    text = '{"exams": {"e": {"year": "2017", "category": "c", "data": [%s]}}}'
    question = {
        "qid": "1",
        "qtext": "?",
        "ra": "2",
        "answers": [{"aid": 1, "atext": "x"}, {"aid": 2, "atext": "y"}],
        "image": "",
    }
    (row,) = read_head_qa(io.StringIO(text % json.dumps(question)), Problems("f")).rows
    assert (row.cells["right"], row.cells["option_2"], row.cells["id"]) == ("2", "y", "e/1")

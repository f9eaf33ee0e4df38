"""What a benchmark's author sees: a list, a template that works, and every mistake at once."""

import json
import re
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agent.catalog.new_benchmark import KINDS, write_new_benchmark
from agent.datasets.manage.check import check_benchmark
from agent.errors import BenchmarkError, ConfigError
from agent.site.directory import Site, create_site
from tests.agent.cli.benchmark_commands import ROOT, intramural, mine, on
from tests.agent.fault_server import FaultServer

MEDHELM = ROOT / "tests" / "data" / "medhelm_configurable"


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return create_site(tmp_path / "site", "Test")


# list and show


def test_the_list_is_readable_on_a_terminal_and_says_of_each_what_there_is(site: Site):
    table = on(site, "benchmarks", "list")
    assert table.returncode == 0, table.stderr
    *lines, hint = table.stdout.splitlines()
    assert max(map(len, lines)) <= 100
    assert hint.endswith(f"see `intramural --site {site.directory} datasets list`")
    rows = json.loads(on(site, "benchmarks", "list", "--format", "json").stdout)
    for row in rows:
        assert row["id"] in table.stdout
        assert row["category"]
        assert row["access"] in ("public", "gated", "private")
        assert row["metric"]
        assert row["data"] in ("ready", "sample only", "missing")


def test_the_list_shows_a_definition_that_is_broken_beside_the_others(site: Site):
    (site.directory / "benchmarks" / "mine.yaml").write_text("name: mine\n")
    shown = on(site, "benchmarks", "list")
    assert shown.returncode == 0
    assert "mine" in shown.stdout
    assert "description: is required" in shown.stderr
    assert "med_qa" in shown.stdout


def test_show_says_everything_about_a_benchmark(site: Site):
    on(site, "benchmarks", "new", "chats", "--kind", "json-answer")
    path = site.directory / "benchmarks" / "chats" / "benchmark.yaml"
    path.write_text(
        path.read_text()
        + "subgroup_columns: {the dose: dose}\nshorten: {column: note, keep: end}\n"
        + "arguments: {dose: {column: dose, default: ''}}\naliases: [other_name]\n"
    )
    shown = on(site, "benchmarks", "show", "other_name")
    assert shown.returncode == 0, shown.stderr
    for said in (
        "json dose",
        "the dose: dose",
        "note, keeping its end",
        "other_name",
        "quasi_exact_match",
        "private",
    ):
        assert said in shown.stdout
    (row,) = json.loads(on(site, "benchmarks", "show", "chats", "--format", "json").stdout)
    assert row["subgroups"] == {"the dose": "dose"}
    assert row["files"] == []
    (row,) = json.loads(on(site, "benchmarks", "show", "medhelm_med_qa", "--format", "json").stdout)
    assert row["id"] == "med_qa"
    assert row["files"][0]["versions"][0]["sha256"]


# new


@pytest.mark.full
@pytest.mark.parametrize("kind", KINDS)
def test_a_new_benchmark_passes_its_check_and_runs_as_it_is(site: Site, kind: str):
    made = on(site, "benchmarks", "new", "mine", "--kind", kind)
    assert made.returncode == 0, made.stderr
    folder = site.directory / "benchmarks" / "mine"
    assert f"intramural --site {site.directory} benchmarks check {folder}" in made.stdout
    checked = on(site, "benchmarks", "check", folder)
    assert checked.returncode == 0, checked.stderr
    assert "not redacted" in checked.stdout
    assert "[right answer]" in checked.stdout
    assert "NEW_BENCHMARK" not in (folder / "benchmark.yaml").read_text()
    (explained,) = re.findall(r"explained in (\S+)\.\n", (folder / "benchmark.yaml").read_text())
    assert "subgroup_columns" in (ROOT / explained).read_text()
    with FaultServer(models=["m"], answer='{"dose": "5 mg"} A') as server:
        done = on(site, "run", "--server", server.url, "--run-entries", "mine:model=m", "--quiet")
    assert done.returncode == 0, done.stderr
    assert "failed 0" in done.stdout


def test_a_real_case_in_the_prompt_file_is_reported_by_kind(site: Site):
    on(site, "benchmarks", "new", "mine")
    prompt = site.directory / "benchmarks" / "mine" / "prompt.txt"
    clean = on(site, "benchmarks", "check", "mine", "--rows", "0")
    assert clean.returncode == 0, clean.stderr
    assert "may identify a person" not in clean.stderr
    prompt.write_text("Example: Margaret Holloway, MRN 4471123: gout.\n" + prompt.read_text())
    checked = on(site, "benchmarks", "check", "mine", "--rows", "0")
    assert checked.returncode == 0, checked.stderr
    assert "what may identify a person (1 MRN, 1 NAME)" in checked.stderr
    assert "Holloway" not in checked.stdout + checked.stderr


def test_the_keys_that_a_template_offers_work_when_taken(site: Site):
    on(site, "benchmarks", "new", "mine")
    path = site.directory / "benchmarks" / "mine" / "benchmark.yaml"
    lines = path.read_text().splitlines()
    offered = [
        line for line in lines if line.startswith("# ") and line[2:].split(":")[0].isidentifier()
    ]
    assert len(offered) >= 8
    (path.parent / "data.csv").write_text(
        "id,patient,sex,note,question,option_a,option_b,option_c,option_d,answer,split\n"
        "1,p1,f,,Is it?,a,b,c,d,A,train\n2,p1,f,x,Is it?,a,b,c,d,A,train\n3,p2,m,,Is it so?,a,b,c,d,B,test\n"
    )
    path.write_text("\n".join(line[2:] if line in offered else line for line in lines) + "\n")
    checked = on(site, "benchmarks", "check", path.parent)
    assert checked.returncode == 0, checked.stderr
    assert "mine: 1 instances of patient" in checked.stdout
    assert "unit p2" in checked.stdout
    assert "[sex] m" in checked.stdout
    assert checked.stdout.count("Is it?") == 2, "the two examples"


def test_the_judges_prompt_that_a_template_offers_works_when_taken(site: Site):
    on(site, "benchmarks", "new", "mine", "--kind", "jury")
    path = site.directory / "benchmarks" / "mine" / "benchmark.yaml"
    text = path.read_text().replace("    # prompt_file: judge.txt", "    prompt_file: judge.txt")
    path.write_text(re.sub(r"    criteria:.*\n(      .*\n)+", "", text))
    checked = on(site, "benchmarks", "check", "mine")
    assert checked.returncode == 0, checked.stderr
    assert "asked with the benchmark's own prompt; the right answer is shown" in checked.stdout
    assert "You are a family doctor." in checked.stdout
    judge = path.parent / "judge.txt"
    judge.write_text(judge.read_text().replace("{GOLD_RESPONSE}", "(none)"))
    assert "the right answer is not shown" in on(site, "benchmarks", "check", "mine").stdout


def test_a_benchmark_is_checked_by_its_name_and_an_unknown_one_is_told(site: Site):
    assert "med_qa: " in on(site, "benchmarks", "check", "medhelm_med_qa", "--rows", "0").stdout
    unknown = on(site, "benchmarks", "check", "med_aq")
    assert unknown.returncode == 2
    assert (
        "med_aq is not a file or folder here, and there is no benchmark 'med_aq'" in unknown.stderr
    )


def test_without_a_site_a_new_benchmark_lies_here_and_runs_by_its_file(tmp_path: Path):
    made = intramural("benchmarks", "new", "mine", "--kind", "yes-no", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    assert (tmp_path / "mine" / "prompt.txt").is_file()
    assert (
        "medhelm_configurable_benchmark:config_path=mine/benchmark.yaml,model=MODEL" in made.stdout
    )
    assert intramural("benchmarks", "check", "mine", cwd=tmp_path).returncode == 0


@pytest.mark.parametrize("name", ["../out", "a/b", "", ".hidden", "a,b", "a" * 65, "ä"])
def test_names_that_cannot_be_folders_and_ids(tmp_path: Path, name: str):
    with pytest.raises(ConfigError, match="cannot be a benchmark's name"):
        write_new_benchmark(name, "yes-no", tmp_path / "new")
    assert list(tmp_path.iterdir()) == []


def test_a_name_that_is_taken_is_refused_when_made_and_when_checked(site: Site):
    taken = on(site, "benchmarks", "new", "medhelm_med_qa")
    assert taken.returncode == 2
    assert "there is a benchmark 'medhelm_med_qa' already" in taken.stderr
    folder = site.directory / "benchmarks" / "mine"
    write_new_benchmark("med_qa", "yes-no", folder)
    with pytest.raises(BenchmarkError, match="the name 'med_qa' is already used by"):
        check_benchmark(folder, site.data, site.own_benchmarks, keep=0)
    assert check_benchmark(folder, site.data, None, keep=0), "elsewhere it may go by that name"


def test_a_definition_in_the_site_is_checked_as_runs_read_it(site: Site):
    folder = site.directory / "benchmarks" / "mine"
    write_new_benchmark("mine", "yes-no", folder)
    definition = folder / "benchmark.yaml"
    definition.write_text(definition.read_text().replace("prompt.txt ", f"{folder}/prompt.txt "))
    with pytest.raises(BenchmarkError, match="not an absolute path"):
        check_benchmark(folder, site.data, site.own_benchmarks, keep=0)
    assert check_benchmark(folder, site.data, None, keep=0)


def test_a_folder_that_is_there_is_never_written_over(tmp_path: Path):
    (tmp_path / "mine").mkdir()
    refused = intramural("benchmarks", "new", "mine", cwd=tmp_path)
    assert refused.returncode == 2
    assert "already exists" in refused.stderr


# check


def test_medhelms_own_three_files_pass_unchanged():
    command = [sys.executable, "-m", "agent", "benchmarks", "check", "exact_match_demo.yaml"]
    checked = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=MEDHELM, timeout=120
    )
    assert checked.returncode == 0, checked.stderr
    assert "EXACT-MATCH-DEMO: 2 instances" in checked.stdout
    assert "right answers: " in checked.stdout


def test_a_benchmark_that_travels_with_the_agent_is_checked_on_its_sample(site: Site):
    checked = on(site, "benchmarks", "check", ROOT / "benchmarks" / "med_qa", "--rows", "0")
    assert checked.returncode == 0, checked.stderr
    assert "from the sample" in checked.stdout
    assert "[user]" not in checked.stdout


def refused(folder: Path) -> str:
    with pytest.raises(BenchmarkError) as caught:
        check_benchmark(folder, Path("no such site"), None, keep=1)
    assert "CANARY" not in str(caught.value)
    return str(caught.value)


def test_the_command_tells_every_mistake_of_definition_prompt_and_data_at_once(tmp_path: Path):
    folder = mine(tmp_path)
    definition = (folder / "benchmark.yaml").read_text()
    definition = definition.replace("name: exact_match", "name: exact_mach").replace(
        "max_tokens:", "max_token:"
    )
    (folder / "benchmark.yaml").write_text(definition)
    (folder / "prompt.txt").write_text("{note}\n{qestion}\n{options}\n")
    with (folder / "data.csv").open("a") as file:
        file.write("5,CANARY,one field too few\n")
    checked = intramural("benchmarks", "check", folder)
    assert checked.returncode == 3
    assert "CANARY" not in checked.stdout + checked.stderr
    for part in (
        "metrics[1].name: unknown metric 'exact_mach' (did you mean 'exact_match'?)",
        "max_token: unknown key (did you mean 'max_tokens'?)",
        "{qestion} is not a column (did you mean 'question'?)",
        "data.csv: row 5 (line 6): has 3 fields, but the header has 4",
    ):
        assert part in checked.stderr


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "id,note,question,answer",
            "id,note,question,anser",
            "missing 'answer' (did you mean 'anser'?); expected",
        ),
        ("1,", "2,", "has the same 'id' as row 1"),
        (",No", ",CANARY", "row 1 (line 2): the column 'answer' does not name one of the options"),
    ],
)
def test_rows_that_are_wrong_are_named(tmp_path: Path, old: str, new: str, said: str):
    folder = mine(tmp_path)
    with (folder / "benchmark.yaml").open("a") as file:
        file.write("id_column: id\n")
    data = (folder / "data.csv").read_text()
    (folder / "data.csv").write_text(data.replace(old, new, 1))
    assert said in refused(folder)


def test_files_that_are_wrong_as_a_whole(tmp_path: Path):
    folder = mine(tmp_path)
    data = folder / "data.csv"
    for content, said in (
        (b"", "empty"),
        (b"id,note,question,answer\n1,caf\xe9 CANARY,x,No\n", "line 2: is not UTF-8"),
        (b"id,note,question,answer\n", "the dataset has no rows"),
    ):
        data.write_bytes(content)
        assert said in refused(folder)
    data.unlink()
    assert "data.csv" in refused(folder)


def test_a_bad_json_cell_is_named_by_row(tmp_path: Path):
    folder = mine(tmp_path, "chat")
    with (folder / "data.jsonl").open("a") as file:
        file.write('{"id": "3", "messages": "[{CANARY", "reply": "x"}\n{"id": "4", CANARY\n')
    said = refused(folder)
    assert "line 3" in said
    assert "line 4" in said


def test_a_line_without_end_is_refused_by_its_row(tmp_path: Path):
    folder = mine(tmp_path)
    with (folder / "data.csv").open("r+b") as file:
        file.seek(0, 2)
        file.write(b'5,"')
        file.truncate(2**26)  # the rest are zero bytes that take no room on the disk
    checked = intramural("benchmarks", "check", folder)
    assert checked.returncode == 3
    assert "data.csv: row 5 (line 6): is longer than" in checked.stderr


def test_a_link_out_of_the_folder_is_not_read(tmp_path: Path):
    folder = mine(tmp_path)
    shutil.move(folder / "data.csv", tmp_path / "outside.csv")
    (folder / "data.csv").symlink_to(tmp_path / "outside.csv")
    assert "is a link that leads out of its folder" in refused(folder)


def test_a_spreadsheet_with_formulas_is_refused_by_cell(tmp_path: Path):
    from openpyxl import Workbook

    folder = mine(tmp_path)
    book = Workbook()
    sheet = book.active
    for row in (
        ["id", "note", "question", "answer"],
        ["1", "CANARY", "Is it?", "No"],
        ["2", "=1+1", "Is it?", "No"],
    ):
        sheet.append(row)
    book.save(folder / "data.xlsx")
    definition = folder / "benchmark.yaml"
    definition.write_text(
        definition.read_text().replace("dataset_file: data.csv", "dataset_file: data.xlsx")
    )
    said = refused(folder)
    assert "formula" in said
    assert "row 2" in said or "B3" in said


def test_a_path_with_a_comma_is_read_where_no_run_entry_stands_between(tmp_path: Path):
    folder = mine(tmp_path)
    shutil.move(folder, tmp_path / "mine, and yours")
    assert intramural("benchmarks", "check", tmp_path / "mine, and yours").returncode == 0
    entry = f"medhelm_configurable_benchmark:config_path={tmp_path}/mine, and yours/benchmark.yaml,model=m"
    told = intramural(
        "run", "--dry-run", "--server", "http://127.0.0.1:1/v1", "--run-entries", entry
    )
    assert told.returncode == 2
    assert "a value cannot contain a comma" in told.stderr


def test_control_characters_of_a_record_do_not_reach_the_authors_terminal(tmp_path: Path):
    folder = mine(tmp_path)
    data = (folder / "data.csv").read_text()
    (folder / "data.csv").write_text(data.replace("Seen for", "\x1b[2JSeen for"))
    checked = intramural("benchmarks", "check", folder)
    assert checked.returncode == 0, checked.stderr
    assert "\x1b" not in checked.stdout


def test_the_hints_of_a_command_hold_its_site_and_can_be_copied(site: Site):
    made = on(site, "benchmarks", "new", "mine")
    hints = [line.strip() for line in made.stdout.splitlines() if line.startswith("  intramural")]
    assert len(hints) == 2
    assert all(hint.startswith(f"intramural --site {site.directory} ") for hint in hints)
    assert on(site, *shlex.split(hints[0])[3:]).returncode == 0
    wrong = on(site, "benchmarks", "show", "med_qaa")
    assert f"`intramural --site {site.directory} benchmarks list`" in wrong.stderr
    assert "`intramural benchmarks list`" in intramural("benchmarks", "show", "med_qaa").stderr


def test_a_file_that_is_no_yaml_is_told_once_and_with_what_helps(tmp_path: Path):
    folder = mine(tmp_path, "json-answer")
    definition = folder / "benchmark.yaml"
    text = (
        definition.read_text()
        .replace("parser: json ", "parser: pattern ")
        .replace("answer_field: dose ", "")
    )
    for pattern, said in (
        (
            r'"Dose:\s(.*)"',
            "unknown escape character; in 'single quotes' a backslash has no special meaning",
        ),
        (r"'Dose:\s(.*'", "answer_pattern: is no"),
    ):
        definition.write_text(text + f"answer_pattern: {pattern}\n")
        checked = intramural("benchmarks", "check", folder)
        assert checked.returncode == 3
        assert checked.stderr.count(said) == 1
    assert "missing )" in checked.stderr, "the reason"


def test_right_answers_that_the_metric_cannot_use_are_told_by_row(tmp_path: Path):
    folder = mine(tmp_path)
    definition = folder / "benchmark.yaml"
    definition.write_text(
        "name: mine\ndescription: x\nprompt_file: prompt.txt\ndataset_file: data.csv\ngold: {column: answer}\n"
        "metrics: [{name: medcalc_bench_accuracy}]\n"
        "extra_columns: {category: category, lower_limit: low, upper_limit: high}\n"
    )
    (folder / "prompt.txt").write_text("{question}\n")
    right = "question,answer,category,low,high\nCANARY?,5,lab,4,6\nCANARY?,7,risk,7,7\n"
    (folder / "data.csv").write_text(right)
    assert check_benchmark(folder, Path("no such site"), None, keep=0)
    (folder / "data.csv").write_text(
        right
        + "CANARY?,5,lab,abc,6\nCANARY?,5,foo,4,6\nCANARY?,not a number,lab,4,6\nCANARY?,9,lab,4,6\n"
    )
    said = refused(folder).splitlines()
    assert len(said) == 4
    for number, line in enumerate(said, 3):
        assert line.startswith(
            f"data.csv: row {number} (line {number + 1}): medcalc_bench_accuracy "
        )


def test_a_long_reference_is_not_held_against_itself(tmp_path: Path):
    """Of a text only whether it is there counts: whole notes against themselves would take minutes."""
    folder = mine(tmp_path, "free-text")
    definition = folder / "benchmark.yaml"
    assert "rouge_l" in definition.read_text()
    with (folder / "data.csv").open("a") as file:
        file.write(f"99,a note,{'many different words here ' * 4000}\n")
    began = time.monotonic()
    check_benchmark(folder, Path("no such site"), None, keep=0)
    assert time.monotonic() - began < 10

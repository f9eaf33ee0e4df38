"""What `run` and `summarize` tell a reader who would else draw the wrong conclusion."""

import csv
import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from agent.cli.run import run
from agent.cli.summarize import show_summaries, summarize
from agent.results.summarize import MetricSummary, RunSummary
from agent.site.directory import Site, create_site
from agent.statistics.intervals import Mean
from agent.store import Run, RunDetails
from tests.agent.fault_server import Asked, FaultServer, Message
from tests.agent.runs.suites import write_benchmark

METRICS = (
    "parser: option_letter\nchoices: [yes, no]\ngold: {column: gold, form: text}\nmetrics:\n  - name: exact_match\n"
)
BOLD, SHY = "test/bold", "test/shy"


def says(asked: Asked) -> Message | None:
    _, found, rest = asked.prompt.partition("invented note ")
    if not found:
        return None
    number = int(rest.partition(".")[0])
    knows = number < 10
    if asked.body["model"] == "bold":
        return Message({"role": "assistant", "content": "A" if number < 24 else "B"})
    return Message({"role": "assistant", "content": "A" if knows else "I would rather not say."})


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return create_site(tmp_path / "site", "Test")


def write(site: Site, notes: Sequence[int], name: str = "own") -> None:
    folder = write_benchmark(site, name, [{"note": f"invented note {n}.", "gold": "yes"} for n in notes], METRICS)
    (folder / "prompt.txt").write_text("Note: {note}\n{options}\nAnswer:")


def asked(site: Site, *entries: str, more: Sequence[str] = ()) -> Result:
    with FaultServer(models=["bold", "shy"], fault=says) as server:
        (site.directory / "model_deployments.yaml").write_text(
            "model_deployments:\n"
            + "".join(
                f"  - name: {model}\n    currency: EUR\n"
                f"    client_spec: {{class_name: VLLMChatClient, args: {{base_url: '{server.url}'}}}}\n"
                "    gpu_hour_rate: 100000\n    gpus: 1\n"
                for model in (BOLD, SHY)
            )
        )
        words = [word for entry in entries for word in ("-r", entry)]
        done = CliRunner().invoke(run, [*words, "--suite", "s", "--quiet", *more], obj=site)
    assert done.exit_code == 0, (done.output, done.exception)
    return done


def shown(site: Site, *words: str) -> str:
    done = CliRunner().invoke(summarize, ["--suite", "s", *words], obj=site)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_a_board_with_a_shy_model_has_floors_and_wins_by_them(site: Site):
    write(site, range(40))
    asked(site, f"own:model={BOLD}", f"own:model={SHY}")
    table = shown(site)
    assert "Floor" in table.splitlines()[1] + table.splitlines()[2]
    assert "Floor: the mean, were what the model left without a score itself (empty, unparsed, length" in table
    assert "Win rates and macro-averages take the floor, over 1 column of results of one kind." in table
    of_models = table.partition("Mean win rate")[2].splitlines()
    stand = {words[0]: words[1:] for line in of_models if len(words := line.split()) == 8}
    assert (stand[BOLD][:2], stand[SHY][:2]) == (["1", "1.000"], ["2", "0.000"])
    assert (stand[BOLD][4], stand[SHY][4]) == ("0.600", "0.250")
    rows = {row["model"]: row for row in json.loads(shown(site, "--format", "json"))}
    assert (rows[SHY]["mean"], rows[SHY]["floor"]) == (1.0, 0.25)
    assert (rows[BOLD]["mean"], rows[BOLD]["floor"]) == (0.6, 0.6)
    in_csv = {row["model"]: row for row in csv.DictReader(shown(site, "--format", "csv").splitlines())}
    assert in_csv[SHY]["floor"] == "0.25"


def test_where_all_is_answered_there_is_no_column_of_floors(site: Site):
    write(site, range(10))
    asked(site, f"own:model={BOLD}")
    assert "Floor" not in shown(site)
    assert json.loads(shown(site, "--format", "json"))[0]["floor"] == 1.0


def test_models_without_a_benchmark_in_common_have_no_win_rate_and_the_reason(site: Site):
    write(site, range(10))
    write(site, range(10), "other")
    asked(site, f"own:model={BOLD}", f"other:model={SHY}")
    table = shown(site)
    assert "There is no win rate: no two models have results that can be compared." in table
    assert (
        "In no rank or win rate are 2 results (2: no other model has a result of this benchmark that counts)." in table
    )


def test_results_of_another_sample_are_left_out_and_counted(site: Site):
    write(site, range(20))
    asked(site, f"own:model={BOLD}")
    asked(site, f"own:model={SHY}", more=["-m", "5"])
    assert "In no rank or win rate are 2 results (2: another sample)." in shown(site)


def test_rows_of_one_benchmark_and_model_are_told_apart_by_their_arguments(site: Site):
    write(site, range(10))
    asked(site, f"own:model={BOLD}", f"own:model={BOLD},temperature=0.5")
    table = shown(site, "--runs")
    assert "Arguments" in table
    assert "temperature=0.5" in table


def test_equal_prompts_are_counted_once_and_said(site: Site):
    write(site, [1, 2, 3, 3, 3])
    done = asked(site, f"own:model={BOLD}")
    assert "asked 3 for 5 instances (equal prompts are asked once), kept 0" in done.stdout
    assert "n=5" in done.stdout
    again = asked(site, f"own:model={BOLD}")
    assert "asked 0, kept 5" in again.stdout


def test_several_runs_have_a_total_cost_before_and_after(site: Site):
    write(site, range(5))
    entries = (f"own:model={BOLD}", f"own:model={SHY}")
    dry = asked(site, *entries, more=["--dry-run"]).stdout
    together = dry.partition("2 runs together")[2]
    assert re.search(r"cost at most [\d,.]+ EUR by GPU hours", together)
    done = asked(site, *entries).stdout
    each = [float(amount) for amount in re.findall(r"^  cost: ([\d.]+) EUR", done, re.MULTILINE)]
    (total,) = re.findall(r"2 runs together cost ([\d.]+) EUR by GPU hours", done)
    assert float(total) == pytest.approx(sum(each), abs=0.02)
    assert "together cost" not in asked(site, entries[0]).stdout


def test_what_is_known_of_the_data_stands_below_the_table(capsys: pytest.CaptureFixture[str]):
    small = "the published database holds 7 patients"

    def summary(known: str, problem: str) -> RunSummary:
        data = {"known": known, "digest": "d", "instances": 1, "problems": [problem]}
        details = RunDetails.from_json({"data": data, "scoring": "intramural", "language_model": True})
        run = Run("r", "s", f"{known}:model=a", known, "a", "local/m", details, "ended", 0, 0)
        return RunSummary(run, (MetricSummary("m", "M", 0, 1, Mean(1, 1, 0.5, None, None, "none"), {}),))

    show_summaries([summary("official", small), summary("sample", "a sample")], False, "table", "Suite s")
    assert f"Data of official: {small}\n" in (said := capsys.readouterr().out)
    assert "Data of sample" not in said

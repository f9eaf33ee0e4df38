"""BERTScore from the command line: asked of a server, measured from stored answers, refused where it cannot be."""

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from agent.cli.doctor import examine
from agent.cli.main import intramural
from agent.errors import BenchmarkError
from agent.metrics import Means
from agent.metrics.bert_score import BertScoreComparison, triples
from agent.site.directory import Site, create_site
from agent.vocabulary import Reason
from tests.agent.fault_server import Asked, FaultServer, Message
from tests.agent.runs.suites import answers_file, write_benchmark
from tests.extras.encoders import invented_encoder, pairs

PAIRS = [
    *pairs(9, 4),
    ("", "chest pain"),
    ("left " * 90, "pain " * 90),
]  # the last does not fit at once
METRICS = (
    "gold: {column: gold}\nmetrics:\n  - name: BERTScore-F\n  - name: BERTScore-P\n  - name: BERTScore-R\n"
    "  - name: rouge_lsum\n"
)


@pytest.fixture
def encoder(tmp_path: Path) -> Path:
    return invented_encoder(tmp_path / "encoder", "distilbert")


@pytest.fixture
def site(tmp_path: Path, encoder: Path) -> Site:
    made = create_site(tmp_path / "site", "Test")
    with (made.directory / "site.yaml").open("a") as file:
        file.write("bertscore_model: ../encoder\nbertscore_layer: 3\n")
    write_benchmark(
        made,
        "own",
        [{"note": f"number {i}.", "gold": gold} for i, (_, gold) in enumerate(PAIRS)],
        METRICS,
    )
    return Site(made.directory)


def says(asked: Asked) -> Message | None:
    _, found, rest = asked.prompt.partition("Note: number ")
    return (
        Message({"role": "assistant", "content": PAIRS[int(rest.partition(".")[0])][0]})
        if found
        else None
    )


def command(site: Site, *words: str) -> Result:
    return CliRunner().invoke(intramural, ["--site", str(site.directory), *words])


def run(site: Site) -> tuple[Result, int]:
    """Run the benchmark; return also how many questions reached the server."""
    with FaultServer(models=["a/b"], fault=says) as server:
        site.deployments.write_text(
            "model_deployments:\n  - name: local/b\n    model_name: a/b\n    client_spec:\n"
            "      class_name: helm.clients.vllm_client.VLLMChatClient\n"
            f"      args: {{base_url: '{server.url}', vllm_model_name: a/b}}\n"
        )
        done = command(site, "run", "--suite", "s", "--run-entries", "own:model=a/b")
        return done, sum("Note: number" in asked.prompt for asked in server.asked)


def scores(site: Site, metric: str) -> list[float | None]:
    with site.store() as store:
        (found,) = store.runs.select("s")
        return [one.value for one in store.scores.read_units(found.run_id, metric)]


def test_a_run_is_asked_and_then_measured_and_another_encoder_measures_it_again(
    site: Site, encoder: Path
):
    done, asked = run(site)
    assert done.exit_code == 0, done.output
    assert asked == len(PAIRS)
    means = Means(encoder, 3, 2)
    figures = triples(
        [BertScoreComparison(answer, (gold,), "intramural") for answer, gold in PAIRS if answer],
        means,
    )
    for place, metric in enumerate(("BERTScore-P", "BERTScore-R", "BERTScore-F")):
        expected = [figure[place] for figure in figures]
        assert [value for value in scores(site, metric) if value is not None] == pytest.approx(
            expected, abs=1e-5
        )
        assert scores(site, metric)[9] is None  # the blank answer
    first = scores(site, "BERTScore-F")

    done, asked = run(site)
    assert (done.exit_code, asked) == (0, 0)

    (encoder / "vocab.txt").write_text((encoder / "vocab.txt").read_text() + "\n")
    with site.store() as store:
        before = store.runs.select("s")[0].details.metrics[0].options
    done, asked = run(Site(site.directory))
    assert (done.exit_code, asked) == (0, 0)  # stored answers are measured again
    with site.store() as store:
        after = store.runs.select("s")[0].details.metrics[0].options
    assert before["encoder"] != after["encoder"]
    assert before["layer"] == after["layer"] == "3"
    assert scores(site, "BERTScore-F") == pytest.approx(first, abs=1e-5)


def test_a_run_is_refused_before_it_asks_where_there_is_no_encoder(site: Site, encoder: Path):
    (encoder / "model.safetensors").unlink()
    done, asked = run(site)
    assert asked == 0
    assert isinstance(done.exception, BenchmarkError)
    assert (
        str(done.exception) == "own: bertscore_model: it has no file of weights, model.safetensors"
    )


def test_scoring_again_measures_again_and_leaves_what_it_cannot(site: Site, encoder: Path):
    run(site)
    first = scores(site, "BERTScore-R")
    done = command(site, "rescore", "--suite", "s", "--scoring", "both")
    assert done.exit_code == 0, done.output
    assert scores(site, "BERTScore-R") == pytest.approx(first, abs=1e-5)
    assert scores(site, "BERTScore-R@helm")[9] == 0.0  # a blank answer is wrong there
    shutil.rmtree(encoder)
    done = command(Site(site.directory), "rescore", "--suite", "s")
    assert done.exit_code == 0
    assert "unchanged: " in done.output
    assert scores(site, "BERTScore-R") == pytest.approx(first, abs=1e-5)


def test_answers_of_a_file_are_measured(site: Site, tmp_path: Path):
    answers = answers_file(
        tmp_path / "answers.jsonl", {str(i + 1): answer for i, (answer, _) in enumerate(PAIRS)}
    )
    data = site.directory / "benchmarks" / "own" / "data.csv"
    done = command(
        site, "score", "own", "--data", str(data), "--answers", str(answers), "--format", "json"
    )
    assert done.exit_code == 0, done.output
    rows = {row["metric"]: row for row in json.loads(done.stdout)}
    run(site)
    kept = [value for value in scores(site, "BERTScore-F") if value is not None]
    assert rows["BERTScore-F"]["mean"] == pytest.approx(sum(kept) / len(kept), abs=1e-5)
    assert Reason.EMPTY.value in done.stdout


def test_the_doctor_tries_the_encoder(site: Site):
    (check,) = [check for check in examine(site) if check.subject == "BERTScore"]
    assert (check.verdict, check.finding[:43]) == (
        "ok",
        "encoder ready (distilbert, layer 3 of 3, sh",
    )

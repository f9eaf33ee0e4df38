"""What a run asks of its server: a question once, counts where a limit is set, and options in the chosen way."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from agent.cli.run import run as run_command
from agent.errors import ConfigError, InferenceError
from agent.results.summarize import summarise_benchmarks
from agent.site.directory import Site, create_site
from agent.store import Audience
from tests.agent.fault_server import FaultServer
from tests.agent.runs.suites import run, write_benchmark

CLOSED = "choices: [yes, no, maybe]\ngold: {column: gold}\nmetrics:\n  - name: exact_match\n"
METRICS = "gold: {column: gold}\nmetrics:\n  - name: exact_match\n"


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return create_site(tmp_path / "site", "Test")


def test_instances_that_ask_the_same_are_asked_once_and_each_has_its_own_score(site: Site):
    rows = [
        {"note": "the same invented note", "gold": gold} for gold in ("yes", "no", "yes", "yes")
    ]
    write_benchmark(site, "own", rows, METRICS)
    with FaultServer(models=["a/b"], answer="yes") as server:
        (outcome,) = run(site, server.url, "own:model=a/b")
        asked = [prompt for prompt in server.prompts if "invented note" in prompt]
    assert len(asked) == 1
    assert (outcome.summary.main.mean.n, outcome.summary.main.mean.value) == (4, 0.75)
    with site.store() as store:
        (stored,) = store.runs.select("s")
        assert [
            one.scores["exact_match"] for one in store.answers.read_instances(stored.run_id, 0, 9)
        ] == [
            1.0,
            0.0,
            1.0,
            1.0,
        ]


def test_a_limit_of_prompt_tokens_that_nobody_can_count_is_told_with_the_run(site: Site):
    limited = "arguments:\n  max_length: {kind: tokens, default: '400'}\n"
    write_benchmark(site, "own", [{"note": "an invented note", "gold": "yes"}], METRICS + limited)
    write_benchmark(site, "free", [{"note": "an invented note", "gold": "yes"}], METRICS)
    with FaultServer(models=["a/b"], answer="yes") as server:
        run(site, server.url, "own:model=a/b", "free:model=a/b")
    with site.store() as store:
        said = {
            stored.benchmark: " ".join(stored.details.workarounds)
            for stored in store.runs.select("s")
        }
    assert "The tokens of prompts cannot be counted" in said["own"]
    assert "cannot be counted" not in said["free"]


@pytest.fixture
def exam(site: Site) -> Site:
    """Four questions with options; the server below knows the right letter of the first three."""
    rows = [{"note": f"invented note {n}", "gold": "no"} for n in range(4)]
    folder = write_benchmark(site, "exam", rows, CLOSED)
    (folder / "prompt.txt").write_text("Note: {note}\n{options}\nAnswer:")
    return site


def rate(prompt: str) -> dict[str, float]:
    """Return the likeliest first tokens: B in three questions, a tie in the fourth."""
    if "note 3" in prompt:
        return {"The": -0.5, "A": -1.5, "B": -1.5}
    return {"The": -0.5, " B": -1.0, "A": -2.0}


@pytest.mark.parametrize("scoring", ["intramural", "helm"])
def test_an_exam_answered_within_its_options_has_nothing_unread(exam: Site, scoring: str):
    chatty = "Let me think about all of it before I choose."
    with FaultServer(models=["a/b"], answer=chatty) as server:
        (free,) = run(exam, server.url, "exam:model=a/b", scoring=scoring)
        (closed,) = run(exam, server.url, "exam:model=a/b,answer_mode=constrained", scoring=scoring)
        asked = [one.body for one in server.asked if "invented note" in one.prompt]
    assert ["structured_outputs" in body for body in asked] == [False] * 4 + [True] * 4
    assert asked[-1]["structured_outputs"] == {"choice": ["A", "B", "C"]}
    assert closed.summary.main.mean.n == 4
    assert closed.summary.main.unscored == {}
    if scoring == "intramural":
        assert free.summary.main.unscored == {"unparsed": 4}
    assert closed.summary.run.details.answer_mode == "constrained"


def test_a_benchmarks_own_parser_is_not_applied_to_an_option(exam: Site):
    own = exam.directory / "benchmarks" / "exam" / "benchmark.yaml"
    own.write_text(own.read_text() + "parser: json\nanswer_field: answer\n")
    with FaultServer(models=["a/b"], answer="B") as server:
        (closed,) = run(exam, server.url, "exam:model=a/b,answer_mode=constrained")
    assert (closed.summary.main.mean.n, closed.summary.main.mean.value) == (4, 1.0)


def test_the_likeliest_option_is_scored_and_a_tie_is_not(exam: Site):
    with FaultServer(models=["a/b"], answer="The answer", likeliest=rate) as server:
        (outcome,) = run(exam, server.url, "exam:model=a/b", answer_mode="logprob", scoring="both")
        asked = [one.body for one in server.asked if "invented note" in one.prompt]
    assert {(body["max_tokens"], body["top_logprobs"]) for body in asked} == {(1, 20)}
    main = outcome.summary.main
    assert (main.mean.n, main.mean.value, main.unscored) == (3, 1.0, {"unparsed": 1})
    assert main.twin is not None
    assert main.twin.unscored == {"unparsed": 1}
    with exam.store() as store:
        (stored,) = store.runs.select("s")
        first, *_, last = store.answers.read_instances(stored.run_id, 0, 9)
    assert first.response is not None
    assert last.response is not None
    assert first.response.likelihoods_by_option == {"A": -2.0, "B": -1.0, "C": None}
    assert (last.response.text, last.response.likelihoods_by_option["A"]) == ("", -1.5)


def test_the_texts_of_options_are_compared_where_the_server_scores_a_given_answer(exam: Site):
    rates = {"yes": -2.0, "no": -1.5, "maybe": -3.0}
    with FaultServer(models=["a/b"], rate=lambda _, text: rates.get(text, -1.0)) as server:
        (total,) = run(exam, server.url, "exam:model=a/b,answer_mode=logprob_text")
        (norm,) = run(exam, server.url, "exam:model=a/b,answer_mode=logprob_text_norm")
    assert (total.summary.main.mean.n, total.summary.main.mean.value) == (4, 1.0)
    assert (norm.summary.main.mean.n, norm.summary.main.mean.value) == (4, 0.0)  # maybe
    assert total.summary.main.unscored == {}


def test_runs_that_were_asked_in_different_ways_are_kept_side_by_side_in_rows_of_their_own(
    exam: Site,
):
    entries = [
        "exam:model=a/b",
        "exam:model=a/b,answer_mode=constrained",
        "exam:model=a/b,answer_mode=logprob",
    ]
    with FaultServer(models=["a/b"], answer="B", likeliest=rate) as server:
        run(exam, server.url, *entries)
        again = run(exam, server.url, "exam:model=a/b,answer_mode=generate", *entries[1:])
    assert [outcome.asked for outcome in again] == [0, 0, 0]
    with exam.store() as store:
        summaries = summarise_benchmarks(store, "s")
    assert sorted(summary.run.details.answer_mode for summary in summaries) == [
        "constrained",
        "generate",
        "logprob",
    ]


@pytest.mark.parametrize(
    ("mode", "server", "reason"),
    [
        (
            "constrained",
            {"ignores": ["structured_outputs", "guided_choice", "grammar", "response_format"]},
            "does not limit an answer to given options",
        ),
        ("logprob", {"ignores": ["top_logprobs"]}, "does not return the log probabilities"),
        ("logprob_text", {"ignores": ["prompt_logprobs"]}, "does not return the log probabilities"),
        ("logprob", {"refuses": ["logprobs"]}, "refused with HTTP 400"),
        ("logprob", {"answer": "<think>Hm.</think>B"}, "the model reasons first"),
    ],
)
def test_a_way_that_the_server_cannot_be_asked_in_is_refused_before_any_question(
    exam: Site, mode: str, server: dict[str, object], reason: str
):
    with FaultServer(models=["a/b"], **server) as asked:
        with pytest.raises(InferenceError, match=f"answer_mode={mode}.*{reason}"):
            run(exam, asked.url, f"exam:model=a/b,answer_mode={mode}")
        assert not [prompt for prompt in asked.prompts if "invented note" in prompt]


def test_a_server_that_limits_answers_only_within_json_is_named_as_such_with_the_run(exam: Site):
    with FaultServer(
        models=["a/b"], answer="B", ignores=["structured_outputs", "guided_choice", "grammar"]
    ) as server:
        (outcome,) = run(exam, server.url, "exam:model=a/b,answer_mode=constrained")
    assert outcome.summary.main.mean.value == 1.0
    assert "only within JSON" in " ".join(outcome.summary.run.details.workarounds)


def test_an_account_cannot_replace_a_run_of_another_as_it_cannot_delete_it(site: Site):
    rows = [{"note": f"invented note {number}", "gold": "yes"} for number in range(4)]
    write_benchmark(site, "own", rows, METRICS)
    with FaultServer(models=["a/b"], answer="yes") as server:
        run(site.serve(Audience("dana")), server.url, "own:model=a/b")
        with pytest.raises(ConfigError, match="would replace it"):
            run(
                site.serve(Audience("dan")),
                server.url,
                "own:model=a/b",
                max_eval_instances=1,
                replace=True,
            )
        with site.store() as store:
            (stored,) = store.runs.select("s")
            assert len(store.answers.read_settled_positions(stored.run_id)) == 4
        mine = site.serve(Audience("dana"))
        (outcome,) = run(mine, server.url, "own:model=a/b", max_eval_instances=1, replace=True)
    assert outcome.summary.main.mean.n == 1


@pytest.fixture
def two_servers(site: Site) -> Iterator[Site]:
    """A site with a server that answers, and one that is gone."""
    write_benchmark(site, "own", [{"note": "an invented note", "gold": "yes"}], METRICS)
    with FaultServer(models=["a/dead"]) as gone:
        dead_url = gone.url
    with FaultServer(models=["a/alive"], answer="yes") as server:
        lines = ["model_deployments:"]
        for name, url in (("dead", dead_url), ("alive", server.url)):
            client = f"{{class_name: VLLMChatClient, args: {{base_url: '{url}'}}}}"
            lines.append(f"  - {{name: local/{name}, model_name: a/{name}, client_spec: {client}}}")
        site.deployments.write_text("\n".join(lines))
        yield site


def invoke_run(site: Site, *words: str) -> Result:
    return CliRunner().invoke(run_command, ["--suite", "s", "--quiet", *words], obj=site)


def test_a_dead_server_does_not_keep_the_others_from_being_run(two_servers: Site):
    both = ("-r", "own:model=a/dead", "own:model=a/alive")
    done = invoke_run(two_servers, *both)
    assert done.exit_code == 9
    assert "asked 1" in done.stdout
    assert done.stderr.splitlines()[-1].startswith("1 run not started: ")
    assert "local/dead" in done.stderr
    with two_servers.store() as store:
        assert [stored.deployment for stored in store.runs.select("s")] == ["local/alive"]
    again = invoke_run(two_servers, *both)
    assert again.exit_code == 9
    assert "kept 1" in again.stdout


def test_with_exit_on_error_or_without_any_usable_server_no_question_is_asked(two_servers: Site):
    for words in (
        ("-r", "own:model=a/alive", "own:model=a/dead", "--exit-on-error"),
        ("-r", "own:model=a/dead"),
    ):
        done = invoke_run(two_servers, *words)
        assert isinstance(done.exception, InferenceError)
        assert "local/dead" in str(done.exception)
        with two_servers.store() as store:
            assert list(store.runs.select("s")) == []

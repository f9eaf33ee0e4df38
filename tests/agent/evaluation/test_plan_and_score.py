"""What decides an answer's key and a run's name, and when there is no score."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.catalog.benchmark import find_benchmarks
from agent.catalog.deployments import Deployment
from agent.catalog.run_entries import parse_run_entry
from agent.datasets.load import Dataset
from agent.errors import ConfigError
from agent.evaluation.measures import Rules
from agent.evaluation.plan import RunOptions, http_limits, plan_runs, reachable, request_identity, run_name
from agent.evaluation.score import score_response
from agent.metrics import AnswerParser, MetricUse
from agent.site import Site, create_site
from agent.vocabulary import ChatRequest, Failure, Instance, Message, Reason, Reference, Response, Unscored

REQUEST = ChatRequest("m", (Message("user", "q"),), 16)
INSTANCE = Instance("1", "1", (Message("user", "q"),), (Reference("Yes", correct=True),))
LIMITS = (
    "connect_timeout_s", "attempt_timeout_s", "first_attempt_timeout_s", "total_timeout_s", "max_attempts",
    "outage_grace_s",
)  # fmt: skip
DEPLOYMENT = Deployment("local/b", "a/b", "http://127.0.0.1:9/v1", "b")
RULES = Rules.of((MetricUse("exact_match"), MetricUse("rouge_1")), "intramural", AnswerParser("text"), "l")


def scores_of(result: Response | Failure, rules: Rules = RULES, instance: Instance = INSTANCE) -> dict[str, object]:
    return {verdict.measure.name: verdict.value for verdict in score_response(rules, instance, result)}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    return create_site(tmp_path_factory.mktemp("site") / "site", "Test")


@pytest.mark.parametrize(
    "other",
    [
        replace(REQUEST, model="n"),
        replace(REQUEST, messages=(Message("system", "q"),)),
        replace(REQUEST, messages=(Message("user", "q"), Message("user", ""))),
        replace(REQUEST, max_tokens=17),
        replace(REQUEST, temperature=0.1),
        replace(REQUEST, stop=("\n",)),
        replace(REQUEST, seed=0),
        replace(REQUEST, top_p=1.0),
        replace(REQUEST, extra_body={"repeat_penalty": 1.0}),
    ],
)
def test_whatever_changes_the_question_changes_its_identity(other: ChatRequest):
    assert request_identity(other) != request_identity(REQUEST)
    assert request_identity(replace(REQUEST)) == request_identity(REQUEST)


texts = st.text(max_size=5)


@given(st.lists(texts, min_size=1, max_size=3), st.lists(texts, min_size=1, max_size=3))
def test_no_two_conversations_share_an_identity(one: list[str], other: list[str]):
    def identity(contents: list[str]) -> bytes:
        return request_identity(replace(REQUEST, messages=tuple(Message("user", text) for text in contents)))

    assert (identity(one) == identity(other)) == (one == other)


def test_a_runs_name_holds_no_file_name():
    benchmark = find_benchmarks()["pubmed_qa"]
    entry = parse_run_entry("pubmed_qa:model=a/b,data_path=/data/Mrs_Quackenbush.json,num_output_tokens=9")
    name = run_name(entry, benchmark, Dataset((Path("x"),), "ab" * 32, "unknown"), DEPLOYMENT)
    assert name == "pubmed_qa:data=abababababab,model=a/b,model_deployment=local/b,num_output_tokens=9"


@pytest.mark.parametrize(
    "other",
    ["model=a/b,instructions=expert", "model=a/b,temperature=1", "model=a/b,stop=hash", "model=a_b", "model=a/c"],
)
def test_two_runs_that_ask_something_else_have_two_names(other: str):
    benchmark, data = find_benchmarks()["pubmed_qa"], Dataset((Path("x"),), "ab" * 32, "unknown")
    one, two = (
        run_name(parse_run_entry(f"pubmed_qa:{pairs}"), benchmark, data, DEPLOYMENT) for pairs in ("model=a/b", other)
    )
    assert one != two


def test_one_run_given_twice_is_refused(site: Site):
    entries = [parse_run_entry("med_qa:model=a/b")] * 2
    with pytest.raises(ConfigError, match="twice: med_qa:model=a/b"):
        plan_runs(site, entries, RunOptions("s", server="http://127.0.0.1:9/v1"))


def test_the_entry_beats_the_command_line_and_the_command_line_the_benchmark(site: Site):
    entries = [
        parse_run_entry("med_qa:model=a/b"),
        parse_run_entry("med_qa:model=a/c,max_eval_instances=3,temperature=0.5,num_output_tokens=9"),
    ]
    plain, changed = plan_runs(site, entries, RunOptions("s", server="http://127.0.0.1:9/v1", max_eval_instances=7))
    assert (len(plain.instances), plain.temperature, plain.max_tokens) == (7, 0.0, 16)
    assert (len(changed.instances), changed.temperature, changed.max_tokens) == (3, 0.5, 9)


def test_what_an_entry_changes_is_kept_with_the_run(site: Site):
    entries = [parse_run_entry("med_qa:model=a/b,instructions=expert,temperature=0.5,max_eval_instances=3")]
    (plan,) = plan_runs(site, entries, RunOptions("s", server="http://127.0.0.1:9/v1", sample_seed=7))
    assert plan.overrides == ("instructions", "temperature")
    assert (plan.sampled, plan.sample_seed) == (3, 7)


def test_the_sites_limits_and_authorities_reach_the_client(tmp_path: Path):
    site = create_site(tmp_path / "site", "Test")
    authority = tmp_path / "ca.pem"
    authority.write_text("-")
    numbers = dict(zip(LIMITS, range(11, 17), strict=True))
    lines = [f"{key}: {value}" for key, value in numbers.items()] + [f"ca_bundle: {authority}"]
    with (site.directory / "site.yaml").open("a") as file:
        file.write("\n".join(lines) + "\n")
    site = Site(site.directory)
    assert {key: getattr(http_limits(site), key) for key in LIMITS} == numbers
    assert reachable(DEPLOYMENT, site).ca_bundle == authority
    own = replace(DEPLOYMENT, ca_bundle=tmp_path / "own.pem")
    assert reachable(own, site).ca_bundle == tmp_path / "own.pem"


@pytest.mark.parametrize("suite", ["", "../x", "a b", "x" * 65, "[/x]", "a\n", "\udcff", ".hidden"])
def test_a_suites_name_is_a_plain_word(site: Site, suite: str):
    with pytest.raises(ConfigError, match="suite's name"):
        plan_runs(site, [], RunOptions(suite))


def test_another_seed_takes_other_instances(site: Site):
    entries = [parse_run_entry("med_qa:model=a/b")]
    taken = [
        plan_runs(
            site, entries, RunOptions("s", server="http://127.0.0.1:9/v1", max_eval_instances=9, sample_seed=seed)
        )
        for seed in (0, 0, 1)
    ]
    first, again, other = ([instance.id for instance in plans[0].instances] for plans in taken)
    assert first == again != other


def response(text: str, finish: str = "stop") -> Response:
    return Response(text, "", finish, None, None, 0.0)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        (Failure(Reason.TIMEOUT), Reason.TIMEOUT),
        (Failure(Reason.CONTEXT_LENGTH, 400), Reason.CONTEXT_LENGTH),
        (response(""), Reason.EMPTY),
        (response(" \n"), Reason.EMPTY),
        (response("", "length"), Reason.LENGTH),
        (response("Yes", "content_filter"), Reason.CONTENT_FILTER),
    ],
)
def test_what_is_missing_is_unscored_with_its_reason(result: Response | Failure, reason: Reason):
    scores = scores_of(result)
    assert scores == {"exact_match": Unscored(reason), "rouge_1": Unscored(reason)}


def test_text_that_was_cut_off_is_an_answer_still():
    scores = scores_of(response("Yes", "length"))
    assert scores == {"exact_match": 1.0, "rouge_1": 1.0}


def test_parity_scores_an_empty_answer_as_upstream_does():
    assert scores_of(response(""), Rules.of((MetricUse("exact_match"),), "helm", AnswerParser("text"), "l")) == {
        "exact_match": 0.0
    }

"""What decides an answer's key and a run's name, and when there is no score."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.catalog.deployments import Deployment
from agent.catalog.run_entries import parse_run_entry
from agent.datasets.load import Dataset
from agent.datasets.manage.register import Attestation, add_data, check_data
from agent.errors import AgentError, BenchmarkError, ConfigError
from agent.inference.capabilities import Capabilities
from agent.inference.wire import request_identity
from agent.runs.plan import RunOptions, check_reachable, plan_runs, write_run_name
from agent.site.directory import Site, create_site
from agent.site.http_limits import http_limits
from agent.vocabulary import AnswerParser, ChatRequest, ClosedQuestion, Message, Shortenable
from tests.agent.catalog.shipped import BENCHMARKS
from tests.agent.runs.suites import plan, write_benchmark

REQUEST = ChatRequest("m", (Message("user", "q"),), 16)
LIMITS = (
    "connect_timeout_s", "attempt_timeout_s", "first_attempt_timeout_s", "total_timeout_s", "max_attempts",
    "outage_grace_s",
)  # fmt: skip
DEPLOYMENT = Deployment("local/b", "a/b", "http://127.0.0.1:9/v1", "b")


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
        replace(REQUEST, shortenable=Shortenable(0, 0, 1, "start")),
        replace(REQUEST, closed=ClosedQuestion("logprob", ("A", "B"))),
    ],
)
def test_whatever_changes_the_question_changes_its_identity(other: ChatRequest):
    assert request_identity(other) != request_identity(REQUEST)
    assert request_identity(replace(REQUEST)) == request_identity(REQUEST)


def test_what_may_be_cut_and_how_much_fits_change_the_identity_only_where_they_are_said():
    part = replace(REQUEST, shortenable=Shortenable(0, 0, 1, "start"))
    same = [part, replace(part, shortenable=Shortenable(0, 0, 1, "end"))]
    limits = [None, 100, 200]
    assert (
        len({request_identity(request, limit) for request in (REQUEST, *same) for limit in limits})
        == 9
    )
    # Answers that sites keep from before have these keys.
    assert request_identity(REQUEST) == b'[1,"m",[["user","q"]],16,0.0,[],null,null,{}]'


texts = st.text(max_size=5)


@given(st.lists(texts, min_size=1, max_size=3), st.lists(texts, min_size=1, max_size=3))
def test_no_two_conversations_share_an_identity(one: list[str], other: list[str]):
    def identity(contents: list[str]) -> bytes:
        return request_identity(
            replace(REQUEST, messages=tuple(Message("user", text) for text in contents))
        )

    assert (identity(one) == identity(other)) == (one == other)


def test_a_runs_name_holds_no_file_name():
    benchmark = BENCHMARKS["pubmed_qa"]
    entry = parse_run_entry(
        "pubmed_qa:model=a/b,data_path=/data/Mrs_Quackenbush.json,num_output_tokens=9"
    )
    name = write_run_name(entry, benchmark, Dataset((Path("x"),), "ab" * 32, "unknown"), DEPLOYMENT)
    assert (
        name == "pubmed_qa:data=abababababab,model=a/b,model_deployment=local/b,num_output_tokens=9"
    )


@pytest.mark.parametrize(
    "other",
    [
        "model=a/b,instructions=expert",
        "model=a/b,temperature=1",
        "model=a/b,stop=hash",
        "model=a/b,answer_mode=constrained",
        "model=a/b,answer_mode=logprob",
        "model=a_b",
        "model=a/c",
    ],
)
def test_two_runs_that_ask_something_else_have_two_names(other: str):
    benchmark, data = BENCHMARKS["pubmed_qa"], Dataset((Path("x"),), "ab" * 32, "unknown")
    one, two = (
        write_run_name(parse_run_entry(f"pubmed_qa:{pairs}"), benchmark, data, DEPLOYMENT)
        for pairs in ("model=a/b", other)
    )
    assert one != two


def test_one_run_given_twice_is_refused(site: Site):
    entries = [parse_run_entry("med_qa:model=a/b")] * 2
    with pytest.raises(ConfigError, match="more than once: med_qa:model=a/b"):
        plan_runs(site, entries, RunOptions("s", server="http://127.0.0.1:9/v1"))


@pytest.mark.parametrize("mode", ["constrained", "logprob"])
@pytest.mark.parametrize("named", ["entry", "option"])
def test_options_are_not_asked_for_where_answers_are_free_text(site: Site, mode: str, named: str):
    entry = "medcalc_bench:model=a/b" + (f",answer_mode={mode}" if named == "entry" else "")
    options = {"answer_mode": mode} if named == "option" else {}
    with pytest.raises(ConfigError, match="the answers of medcalc_bench are free text"):
        plan(site, entry, **options)


def test_an_entrys_own_way_of_asking_comes_before_the_command_lines(site: Site):
    named = plan(site, "med_qa:model=a/b,answer_mode=constrained", answer_mode="logprob")
    assert (named.answer_mode, named.max_tokens) == ("constrained", 64)
    unnamed = plan(site, "med_qa:model=a/b", answer_mode="logprob")
    assert (unnamed.answer_mode, unnamed.max_tokens) == ("logprob", 1)
    assert unnamed.name.endswith(",answer_mode=logprob")
    usual = plan(site, "med_qa:model=a/b,answer_mode=generate", answer_mode="logprob")
    assert usual.name == plan(site, "med_qa:model=a/b").name


@pytest.mark.parametrize(
    ("pairs", "words"),
    [
        ("answer_mode=constraint", "expected one of generate, constrained, logprob"),
        ("answer_mode=logprob,num_output_tokens=9", "cannot be combined with num_output_tokens"),
    ],
)
def test_a_wrong_way_of_asking_is_named(pairs: str, words: str):
    with pytest.raises(ConfigError, match=words):
        parse_run_entry(f"med_qa:model=a/b,{pairs}")


def test_another_parser_is_part_of_the_run_and_of_its_name(site: Site):
    usual = plan(site, "med_qa:model=a/b")
    assert plan(site, "med_qa:model=a/b,parser=option_letter").name == usual.name
    field = plan(site, "med_qa:model=a/b,parser=json,answer_field=answer_choice")
    assert field.rules.parser == AnswerParser("json", "answer_choice")
    assert field.name.endswith(",parser=json,answer_field=answer_choice")
    assert field.rules.identity() != usual.rules.identity()
    assert field.overrides == ("parser", "answer_field")
    pattern = plan(site, "med_qa:model=a/b,answer_pattern=Answer: (.)")
    assert pattern.rules.parser.pattern == "Answer: (.)"
    assert "Answer" not in pattern.name  # names of runs are names of folders
    with pytest.raises(ConfigError, match="parser option_letter needs options to choose from"):
        plan(site, "medcalc_bench:model=a/b,parser=option_letter")


WARDS = (
    'arguments:\n  ward: {values: [north, south], required: true}\n  kind: {column: kind, default: ""}\n'
    '  max_length: {kind: tokens, default: "100000"}\nmetrics:\n  - name: exact_match\n'
)
ROWS = [{"note": f"note {n}", "kind": "ab"[n % 2], "correct_answer": "Yes"} for n in range(6)]


def test_an_argument_takes_its_rows_and_is_part_of_the_runs_name(site: Site):
    write_benchmark(site, "wards", ROWS, WARDS)
    whole, part = (plan(site, f"wards:model=a/b,ward=north{more}") for more in ("", ",kind=b"))
    assert (len(whole.instances), len(part.instances)) == (6, 3)
    assert part.name.startswith("wards:ward=north,kind=b,model=a/b")
    assert (whole.overrides, part.overrides) == (("ward",), ("ward", "kind"))
    assert part.arguments == {"ward": "north", "kind": "b", "max_length": "100000"}
    details = part.details(Capabilities("http://127.0.0.1:9/v1", {}), [])
    assert details.parts == {"ward": ("north", "south")}


def test_a_limit_of_the_prompt_is_handed_to_who_asks_and_selects_nothing(site: Site):
    write_benchmark(site, "wards", ROWS, WARDS)
    found = plan(site, "wards:model=a/b,ward=north,max_length=512")
    assert (found.prompt_limit, len(found.instances)) == (512, 6)
    assert plan(site, "wards:model=a/b,ward=north").prompt_limit == 100_000
    assert found.overrides == ("ward", "max_length")
    assert plan(site, "wards:model=a/b,ward=north,max_length=100000").overrides == ("ward",)


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("wards:model=a/b", "needs the argument ward"),
        ("wards:model=a/b,ward=nort", "did you mean 'north'"),
        ("wards:model=a/b,ward=north,max_length=many", "max_length"),
        ("wards:model=a/b,ward=north,kind=c", "no rows"),
    ],
)
def test_a_wrong_argument_is_named_before_anything_is_asked(site: Site, entry: str, said: str):
    write_benchmark(site, "wards", ROWS, WARDS)
    with pytest.raises(AgentError, match=said):
        plan(site, entry)


def test_deployments_that_are_not_here_are_told_together(site: Site):
    entries = [parse_run_entry(f"med_qa:model={m},model_deployment=x/{m}") for m in ("a/b", "c/d")]
    with pytest.raises(ConfigError, match=r"x/a/b(.|\n)*x/c/d") as caught:
        plan_runs(site, entries, RunOptions("s"))
    assert "--deployment-map" in caught.value.advice


def test_a_deployment_map_asks_here_and_names_the_model_that_answers(site: Site, tmp_path: Path):
    site.deployments.write_text(
        "model_deployments:\n  - name: local/b\n    model_name: hospital/b\n    client_spec:\n"
        "      class_name: helm.clients.vllm_client.VLLMChatClient\n"
        "      args: {base_url: 'http://127.0.0.1:9/v1', vllm_model_name: b}\n"
    )
    mapping = tmp_path / "map.yaml"
    mapping.write_text("stanfordhealthcare/*: local/b\n")
    entries = [
        parse_run_entry("med_qa:model=openai/gpt-4o,model_deployment=stanfordhealthcare/gpt-4o")
    ]
    (found,) = plan_runs(site, entries, RunOptions("s", deployment_map=mapping))
    assert (found.model, found.deployment.name) == ("hospital/b", "local/b")
    assert found.name == "med_qa:model=hospital/b,model_deployment=local/b"


def test_an_entry_with_the_models_last_part_is_the_same_run_as_one_with_its_whole_name(
    tmp_path: Path,
):
    site = create_site(tmp_path / "site", "Test")
    site.deployments.write_text(
        "model_deployments:\n  - name: local/b\n    model_name: hospital/b-7B\n    client_spec:\n"
        "      class_name: helm.clients.vllm_client.VLLMChatClient\n"
        "      args: {base_url: 'http://127.0.0.1:9/v1', vllm_model_name: b}\n"
    )
    names = set()
    for model in ("hospital/b-7B", "b-7B", "b-7b", "b-7b,model_deployment=local/b"):
        entries = [parse_run_entry(f"med_qa:model={model}")]
        (found,) = plan_runs(site, entries, RunOptions("s"))
        assert found.model == "hospital/b-7B"
        names.add(found.name)
    assert names == {"med_qa:model=hospital/b-7B,model_deployment=local/b"}


def test_files_of_somebody_elses_computer_are_told_together_or_ignored(site: Site):
    entries = [
        parse_run_entry("med_qa:model=a/b,data_path=/share/pi/one.jsonl"),
        parse_run_entry("med_mcqa:model=a/b,data_path=/share/pi/two.json"),
    ]
    with pytest.raises(ConfigError, match=r"one\.jsonl(.|\n)*two\.json"):
        plan_runs(site, entries, RunOptions("s", server="http://127.0.0.1:9/v1"))
    plans = plan_runs(
        site, entries, RunOptions("s", server="http://127.0.0.1:9/v1", ignore_data_paths=True)
    )
    assert [found.dataset.known for found in plans] == ["sample", "sample"]
    assert [found.name.partition(":")[0] for found in plans] == ["med_qa", "med_mcqa"]
    assert "data=" not in plans[0].name


def test_every_wrong_dataset_is_told_at_once(site: Site):
    for name in ("one", "two"):
        write_benchmark(site, name, [{"note": "n"}], "metrics:\n  - name: exact_match\n")
    entries = [parse_run_entry(f"{name}:model=a/b") for name in ("one", "two")]
    with pytest.raises(BenchmarkError) as caught:
        plan_runs(site, entries, RunOptions("s", server="http://127.0.0.1:9/v1"))
    told = str(caught.value)
    for name in ("one", "two"):
        assert told.count(f"{name}: data.csv: columns: missing 'correct_answer'") == 1


def test_examples_before_the_question_are_part_of_the_name_and_the_prompt(site: Site):
    rows = [
        {"note": f"note {n}", "split": "train" if n < 3 else "test", "correct_answer": "Yes"}
        for n in range(6)
    ]
    write_benchmark(
        site,
        "shots",
        rows,
        "few_shot: {count: 2, column: split, value: train}\nmetrics:\n  - name: exact_match\n",
    )
    plain, none, by_entry = (
        plan(site, "shots:model=a/b"),
        plan(site, "shots:model=a/b", max_train_instances=0),
        plan(site, "shots:model=a/b,max_train_instances=1", max_train_instances=0),
    )
    prompts = [
        next(iter(found.instances)).messages[-1].content.count("note")
        for found in (plain, none, by_entry)
    ]
    assert prompts == [3, 1, 2]
    assert len({plain.name, none.name, by_entry.name}) == 3
    assert none.overrides == ("max_train_instances",)


def test_gated_files_of_no_known_version_share_the_sites_patients(tmp_path: Path):
    site = create_site(tmp_path / "site", "Test")
    entry = "mimic_bhc:model=a/b"
    assert (
        plan(site, entry).lineage == "mimic_iv"
    )  # the invented sample, which travels with the agent
    folder = site.data / "mimic_bhc"
    folder.mkdir()
    (folder / "mimic_iv_bhc.json").write_text(
        '{"note_id": "1-DS-1", "input": "a note", "target": "a course"}\n'
    )
    assert plan(site, entry).lineage == "site"


def test_gated_data_runs_with_a_mark_until_somebody_attests_it(tmp_path: Path):
    site = create_site(tmp_path / "site", "Test")
    file = tmp_path / "mimic_iv_bhc.json"
    file.write_text('{"note_id": "1-DS-1", "input": "a note", "target": "a course"}\n')

    def marks(entry: str = "mimic_bhc:model=a/b") -> tuple[bool, bool]:
        found = plan(site, entry)
        return found.attested, any("attested" in problem for problem in found.dataset.problems)

    assert marks() == (True, False)  # the invented sample
    assert marks(f"mimic_bhc:data_path={file},model=a/b") == (False, True)
    (site.data / "mimic_bhc").mkdir()
    shutil.copy(file, site.data / "mimic_bhc")
    assert marks() == (False, True)
    benchmark = BENCHMARKS["mimic_bhc"]
    add_data(
        benchmark,
        file,
        site.data,
        attestation=Attestation("PhysioNet 1.5.0", "A. Name"),
        replace=True,
    )
    assert marks() == (True, False)
    (site.data / "mimic_bhc" / file.name).write_text(
        '{"note_id": "2-DS-1", "input": "other", "target": "a course"}\n'
    )
    assert marks() == (False, True)


def test_data_whose_replacing_was_interrupted_is_not_taken_for_a_sample(tmp_path: Path):
    site = create_site(tmp_path / "site", "Test")
    (site.data / ".med_qa.old").mkdir()
    with pytest.raises(BenchmarkError, match="replacing its data was interrupted"):
        plan(site, "med_qa:model=a/b")
    state = check_data(BENCHMARKS["med_qa"], site.data)
    assert (state.state, "interrupted" in state.detail) == ("cannot be read", True)


def test_rows_that_a_loader_numbered_are_not_named_units(site: Site):
    rows = [{"note": f"n {n}", "unit": str(n), "correct_answer": "Yes"} for n in range(4)]
    write_benchmark(site, "numbered", rows, "unit_column: unit\nmetrics:\n  - name: exact_match\n")
    assert not plan(site, "numbered:model=a/b").unit_named
    rows[1]["unit"] = rows[0]["unit"]
    write_benchmark(site, "numbered", rows, "unit_column: unit\nmetrics:\n  - name: exact_match\n")
    assert plan(site, "numbered:model=a/b").unit_named


def test_the_entry_beats_the_command_line_and_the_command_line_the_benchmark(site: Site):
    entries = [
        parse_run_entry("med_qa:model=a/b"),
        parse_run_entry(
            "med_qa:model=a/c,max_eval_instances=3,temperature=0.5,num_output_tokens=9"
        ),
    ]
    plain, changed = plan_runs(
        site, entries, RunOptions("s", server="http://127.0.0.1:9/v1", max_eval_instances=7)
    )
    assert (len(plain.instances), plain.temperature, plain.max_tokens) == (7, 0.0, 16)
    assert (len(changed.instances), changed.temperature, changed.max_tokens) == (3, 0.5, 9)


def test_what_an_entry_changes_is_kept_with_the_run(site: Site):
    entries = [
        parse_run_entry("med_qa:model=a/b,instructions=expert,temperature=0.5,max_eval_instances=3")
    ]
    (plan,) = plan_runs(
        site, entries, RunOptions("s", server="http://127.0.0.1:9/v1", sample_seed=7)
    )
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
    assert check_reachable(DEPLOYMENT, site).ca_bundle == authority
    own = replace(DEPLOYMENT, ca_bundle=tmp_path / "own.pem")
    assert check_reachable(own, site).ca_bundle == tmp_path / "own.pem"


@pytest.mark.parametrize("suite", ["", "../x", "a b", "x" * 65, "[/x]", "a\n", "\udcff", ".hidden"])
def test_a_suites_name_is_a_plain_word(site: Site, suite: str):
    with pytest.raises(ConfigError, match="suite's name"):
        plan_runs(site, [], RunOptions(suite))


def test_another_seed_takes_other_instances(site: Site):
    entries = [parse_run_entry("med_qa:model=a/b")]
    taken = [
        plan_runs(
            site,
            entries,
            RunOptions("s", server="http://127.0.0.1:9/v1", max_eval_instances=9, sample_seed=seed),
        )
        for seed in (0, 0, 1)
    ]
    first, again, other = ([instance.id for instance in plans[0].instances] for plans in taken)
    assert first == again != other


def test_prompts_go_to_no_replica_whose_host_is_not_allowed(site: Site):
    site.deployments.write_text(
        "model_deployments:\n  - name: local/b\n    model_name: hospital/b\n    client_spec:\n"
        "      class_name: helm.clients.vllm_client.VLLMChatClient\n"
        "      args: {base_urls: ['http://127.0.0.1:9/v1', 'http://gpu.example/v1'], vllm_model_name: b}\n"
    )
    with pytest.raises(
        ConfigError, match=r"local/b: prompts may not be sent to the host gpu\.example"
    ):
        plan_runs(site, [parse_run_entry("med_qa:model=hospital/b")], RunOptions("s"))

"""The doctor on a site that is not well: each complaint is heard when its cause is there, and only then."""

import hashlib
import re
import threading
import time
from email.utils import formatdate
from pathlib import Path

import pytest

from agent.catalog.new_benchmark import write_new_benchmark
from agent.cli import doctor
from agent.cli.checks import Check, summarise_ready
from agent.cli.doctor import examine
from agent.datasets.manage.register import add_data, check_data
from agent.inference.baselines import serve
from agent.site.directory import Site, create_site
from tests.agent.catalog.shipped import BENCHMARKS
from tests.agent.fault_server import FaultServer, Message
from tests.agent.inference.counting_server import CountingServer
from tests.forked import run_command


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return create_site(tmp_path / "site", "Test")


def setting(site: Site, line: str) -> Site:
    with (site.directory / "site.yaml").open("a") as file:
        file.write(line + "\n")
    return Site(site.directory)


def found(site: Site, what: str, **server: str) -> Check:
    (check,) = [check for check in examine(site, **server) if check.subject == what]
    return check


@pytest.mark.full
def test_a_healthy_site_without_a_server_has_no_failure(site: Site):
    assert {
        check.subject: check.finding for check in examine(site) if check.verdict == "failed"
    } == {}
    assert found(site, "deployments").verdict == "warning"


@pytest.mark.parametrize("form", ["table", "json"])
def test_every_command_that_is_quoted_names_the_site_that_was_examined(site: Site, form: str):
    done = run_command("agent", "--site", site.directory, "doctor", "--format", form)
    quoted = re.findall(r"`intramural [^`]*`", done.stdout)
    assert f"`intramural --site {site.directory} datasets list`" in quoted or form == "json"
    assert len(quoted) >= 2
    assert [words for words in quoted if f" --site {site.directory} " not in words] == []


@pytest.mark.parametrize(
    ("line", "finding"),
    [
        (
            "plugins: [{name: dose, file: plugins/dose.py, sha256: abc}]",
            "site.yaml: plugins.0.sha256: expected 64 hex digits; `intramural doctor` prints those of the code",
        ),
        ("plugins: [dose]", "site.yaml: plugins.0: expected a mapping of keys"),
        ("max_in_flight: many", "site.yaml: max_in_flight: expected a whole number"),
    ],
)
def test_wrong_settings_are_named_and_the_digests_of_own_metrics_are_printed(
    site: Site, line: str, finding: str
):
    site.plugins.mkdir(exist_ok=True)
    (site.plugins / "dose.py").write_text("x = 1\n")
    first, second = examine(setting(site, line))
    assert (first.verdict, first.finding) == ("failed", finding)
    digest = hashlib.sha256(b"x = 1\n").hexdigest()
    assert (second.subject, second.finding) == (
        "own metric dose",
        f"plugins/dose.py has sha256 {digest}",
    )


@pytest.mark.full
def test_identifiers_that_come_through_redaction(site: Site, monkeypatch: pytest.MonkeyPatch):
    assert found(site, "redaction").verdict == "ok"
    monkeypatch.setattr(doctor, "IDENTIFIERS", ("chest pain",))  # what no engine removes
    check = found(site, "redaction")
    assert (check.verdict, check.exit_code) == ("failed", 5)
    assert "1 of 1 planted identifiers" in check.finding


def test_a_site_directory_that_others_may_enter(site: Site):
    site.directory.chmod(0o755)
    assert found(site, "site directory").verdict == "warning"


def test_hosts_outside_the_network(site: Site):
    site = setting(site, "allowed_hosts: [127.0.0.1, 10.1.2.3, gpu.example, 8.8.8.8]")
    check = found(site, "outgoing")
    assert check.verdict == "warning"
    assert "2 hosts that are not private addresses" in check.finding


@pytest.mark.full
@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("", "as files only"),
        ("aggregator_url: https://board.example", "board.example"),
        (
            "aggregator_url: https://board.example\nproxy: http://127.0.0.1:3128",
            "board.example through the proxy",
        ),
    ],
)
def test_where_submissions_go(site: Site, line: str, said: str):
    assert said in found(setting(site, line), "outgoing").finding


@pytest.mark.parametrize(
    "url", ["ftp://board.example", "board.example", "http://board.example", "https://b.example/x"]
)
def test_an_address_of_the_aggregator_that_cannot_be_used_is_a_failure(site: Site, url: str):
    check = found(setting(site, f"aggregator_url: {url}"), "aggregator")
    assert check.verdict == "failed"
    assert check.advice.startswith("Correct aggregator_url in site.yaml")


def test_an_address_of_the_aggregator_that_can_be_used_is_ok(site: Site):
    check = found(setting(site, "aggregator_url: https://board.example/"), "aggregator")
    assert (check.verdict, check.finding.rpartition(" ")[2]) == ("ok", "https://board.example")


@pytest.mark.parametrize("name", ["ours", "ours.yaml", "../strict"])
def test_a_disclosure_policy_that_is_not_there_is_answered_with_those_that_are(
    site: Site, name: str
):
    check = found(setting(site, f"disclosure_policy: {name}"), "disclosure policy")
    assert check.verdict == "failed"
    assert name in check.finding
    assert check.advice.startswith("Name a policy of the package (")
    assert "strict" in check.advice


def test_the_address_of_the_invite_is_the_one_that_is_named(site: Site):
    (site.submissions / "membership.json").write_text(
        '{"deployment": "b.example", "site": "s-abcdefgh", "url": "https://invited.example",'
        ' "root_keys": [], "root_threshold": 1}'
    )
    assert "invited.example" in found(site, "outgoing").finding


def test_the_sites_own_disclosure_policy_is_read_where_submissions_read_it(site: Site):
    shipped = Path(__file__).parents[3] / "policies" / "disclosure" / "strict.yaml"
    (site.directory / "ours.yaml").write_text(
        shipped.read_text().replace("name: strict", "name: ours")
    )
    check = found(setting(site, "disclosure_policy: ours.yaml"), "disclosure policy")
    assert check.verdict == "ok", check.finding
    assert check.finding.startswith("ours")


@pytest.mark.full
def test_data_of_another_version(site: Site):
    folder = site.data / "med_qa"
    folder.mkdir()
    sample = Path(__file__).parents[3] / "benchmarks" / "med_qa" / "sample"
    line = next(sample.glob("*.jsonl")).read_text().splitlines()[0]
    (folder / "phrases_no_exclude_test.jsonl").write_text(line + "\n")
    check = found(site, "benchmark med_qa")
    assert check.verdict == "warning"
    assert "copied there by hand" in check.finding
    assert "1 instances read now, no problem found; the file is not a version" in check.finding
    assert "datasets add med_qa" in check.advice
    with (folder / "phrases_no_exclude_test.jsonl").open("a") as file:
        file.write("{\n")
    check = found(site, "benchmark med_qa")
    assert (check.verdict, check.exit_code) == ("failed", 3)
    assert "line 2" in check.finding


def test_the_doctor_sees_the_data_that_the_list_of_datasets_sees(site: Site):
    """Also of benchmarks of which a run entry must choose a part."""
    benchmarks = BENCHMARKS
    for name in ("clear", "med_qa"):
        sample = benchmarks[name].sample
        assert sample is not None
        add_data(
            benchmarks[name], benchmarks[name].folder / sample.name, site.data, attestation=None
        )
    (site.data / "med_qa" / "more.jsonl").write_text("")
    checks = {check.subject: check for check in examine(site)}
    for benchmark in benchmarks.values():
        check, state = checks[f"benchmark {benchmark.id}"], check_data(benchmark, site.data)
        assert state.detail in check.finding
        assert check.verdict == ("warning" if benchmark.id == "med_qa" else "ok")
        assert (state.state == "sample only") == (benchmark.id not in ("clear", "med_qa"))
    assert checks["benchmark med_qa"].finding.startswith("data changed: 1 file new")


def test_a_file_that_a_definition_names_and_that_is_gone(site: Site):
    write_new_benchmark("mine", "yes-no", site.directory / "benchmarks" / "mine")
    assert "4 instances read now" in found(site, "benchmark mine").finding
    (site.directory / "benchmarks" / "mine" / "data.csv").unlink()
    check = found(site, "benchmark mine")
    assert (check.verdict, check.finding) == (
        "warning",
        "data missing: the file named in its definition",
    )


def test_a_model_that_gives_no_answer(site: Site):
    def silent(asked):
        return (
            Message({"role": "assistant", "content": ""})
            if "single word: ready" in asked.prompt
            else None
        )

    with FaultServer(models=["a/b"], fault=silent) as server:
        check = found(site, "server, model a/b, answer", server=server.url, model="a/b")
    assert check.verdict == "warning"
    assert "answer was empty" in check.finding


def test_a_server_without_a_model_to_ask_for(site: Site):
    check = found(site, "deployments", server="http://127.0.0.1:9/v1")
    assert (check.verdict, check.exit_code) == ("failed", 2)
    assert "--model" in check.advice


@pytest.mark.full
@pytest.mark.parametrize(
    ("kind", "verdict", "said"),
    [
        (
            "vllm",
            "ok",
            "4096 tokens for prompt and answer; the server counts prompts, so over-long prompts can be shortened",
        ),
        ("llama.cpp", "ok", "4096 tokens"),
        (
            "neither",
            "warning",
            "does not state its context length; the tokens of prompts cannot be counted",
        ),
    ],
)
def test_how_much_fits_a_model_and_who_counts(site: Site, kind: str, verdict: str, said: str):
    with CountingServer(models=["a/b"], window=4096, kind=kind) as server:
        check = found(site, "server, model a/b, context window", server=server.url, model="a/b")
    assert check.verdict == verdict
    assert said in check.finding


def test_a_deployment_that_says_less_than_is_served(site: Site):
    with CountingServer(models=["b"], window=4096) as server:
        (site.directory / "model_deployments.yaml").write_text(
            "model_deployments:\n  - name: a/b\n    max_sequence_length: 1024\n    client_spec:\n"
            f"      {{class_name: VLLMChatClient, args: {{base_url: '{server.url}'}}}}\n"
        )
        check = found(site, "deployment a/b, context window")
    assert (
        "1024 tokens for prompt and answer, as set in its deployment (4096 served)" in check.finding
    )


@pytest.mark.full
def test_baselines_are_well_in_every_respect(site: Site):
    ready: list[str] = []
    threading.Thread(target=serve, kwargs={"on_ready": ready.append}, daemon=True).start()
    while not ready:
        time.sleep(0.01)
    checks = [
        check
        for check in examine(site, ready[0], "baseline/lead")
        if check.subject.startswith("server")
    ]
    assert {check.subject: check.finding for check in checks if check.verdict == "failed"} == {}
    (window,) = [check for check in checks if check.subject.endswith("context window")]
    assert (window.verdict, window.finding[:13]) == ("ok", "131072 tokens")


@pytest.mark.full
def test_an_encoder_that_cannot_be_used(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    assert "BERTScore" not in [check.subject for check in examine(site)]
    site = setting(site, "bertscore_model: encoder")
    monkeypatch.setattr("agent.metrics.bert_score.missing_packages", lambda: ("torch",))
    check = found(site, "BERTScore")
    assert (check.verdict, check.exit_code) == ("failed", 3)
    assert "needs torch, which is not installed" in check.finding
    assert "pip install" in check.advice
    monkeypatch.setattr("agent.metrics.bert_score.missing_packages", lambda: ())
    assert "config.json cannot be read" in found(site, "BERTScore").finding


@pytest.mark.full
def test_the_ways_in_which_a_server_can_be_asked(site: Site):
    with FaultServer() as server:
        check = found(
            site,
            "server, model test-model, ways of asking",
            server=server.url,
            model="test-model",
        )
    assert (check.verdict, check.finding) == (
        "ok",
        "answer_mode can be generate, constrained, logprob, logprob_text (constrained by the field"
        " structured_outputs)",
    )
    closed = {"structured_outputs", "guided_choice", "grammar", "response_format", "top_logprobs"}
    closed.add("prompt_logprobs")
    with FaultServer(ignores=closed) as server:
        check = found(
            site,
            "server, model test-model, ways of asking",
            server=server.url,
            model="test-model",
        )
    assert check.finding.startswith("answer_mode can be generate; refused: ")
    assert "(answer_mode=constrained): does not limit an answer" in check.finding
    assert "(answer_mode=logprob_text): does not return" in check.finding
    assert "(answer_mode=logprob): does not return the log probabilities" in check.finding


class DatedServer(FaultServer):
    """A server whose clock is `ahead_s` seconds ahead, as its `Date` header shows."""

    ahead_s = 0.0

    def _write_head(self, writer, status, headers):
        date = formatdate(time.time() + self.ahead_s, usegmt=True)
        super()._write_head(writer, status, {**headers, "Date": date})


@pytest.mark.parametrize(
    ("ahead_s", "said"),
    [(0, ""), (3600, "s behind that of 127.0.0.1:"), (-3600, "s ahead of that of 127.0.0.1:")],
)
def test_a_clock_that_disagrees_with_the_servers_date(site: Site, ahead_s: float, said: str):
    with DatedServer(models=["a/b"]) as server:
        server.ahead_s = ahead_s
        checks = [
            check
            for check in examine(site, server.url, "a/b")
            if check.subject == "server, model a/b, clock"
        ]
    assert [check.verdict for check in checks] == (["warning"] if said else [])
    assert all(said in check.finding for check in checks)


def test_a_file_of_certificate_authorities_that_is_not_there_or_is_none(site: Site):
    site = setting(site, "ca_bundle: ca.pem")
    check = found(site, "ca_bundle")
    assert (check.verdict, check.exit_code) == ("failed", 2)
    assert check.finding == f"{site.directory}/ca.pem does not exist"
    assert "ca_bundle in site.yaml" in check.advice
    (site.directory / "ca.pem").write_text("words")
    assert "not a readable PEM file" in found(site, "ca_bundle").finding


def test_a_proxy_that_does_not_answer(site: Site):
    with FaultServer() as server:
        port = server.port
        site = setting(site, f"proxy: http://127.0.0.1:{port}")
        assert found(site, "proxy").verdict == "ok"
    check = found(site, "proxy")
    assert (check.verdict, check.finding) == (
        "failed",
        f"127.0.0.1:{port} does not accept connections",
    )
    assert "proxy in site.yaml" in check.advice


def test_a_proxy_without_its_scheme_is_not_called_unreachable(site: Site):
    check = found(setting(site, "proxy: proxy.hospital.example:3128"), "settings")
    assert check.verdict == "failed"
    assert "proxy: expected http://HOST:PORT" in check.finding


@pytest.mark.parametrize("name", ["store", "store/site.sqlite3"])
def test_a_store_that_others_can_read_is_reported_once(site: Site, name: str):
    (site.directory / name).chmod(0o755)
    failed = [check for check in examine(site) if check.verdict == "failed"]
    (check,) = failed
    assert check.subject == "store"
    assert "can be read by other accounts" in check.finding
    assert "Run `chmod" in check.advice
    assert str(site.directory / name) in check.advice


def test_files_and_proxies_of_a_deployment_are_named_with_it(site: Site):
    (site.directory / "model_deployments.yaml").write_text(
        "model_deployments:\n  - name: a/b\n    ca_bundle: own.pem\n    proxy: http://127.0.0.1:9\n"
        "    client_spec: {class_name: VLLMChatClient, args: {base_url: 'http://127.0.0.1:9/v1'}}\n"
    )
    assert found(site, "deployment a/b, ca_bundle").finding.endswith("own.pem does not exist")
    assert "proxy of a/b" in found(site, "deployment a/b, proxy").advice


def test_a_replica_that_is_gone_is_a_warning_and_the_others_are_named(site: Site):
    with FaultServer(models=["b"]) as server:
        (site.directory / "model_deployments.yaml").write_text(
            "model_deployments:\n  - name: a/b\n    client_spec:\n      class_name: VLLMChatClient\n"
            f"      args: {{base_urls: ['http://127.0.0.1:9/v1', '{server.url}']}}\n"
        )
        assert f"reachable at 127.0.0.1:{server.port} (" in found(site, "deployment a/b").finding
        check = found(site, "deployment a/b, replicas")
    assert (check.verdict, check.finding) == (
        "warning",
        "the server 127.0.0.1:9 refuses connections; it is left out until it answers",
    )


def test_what_is_ready_takes_one_line_a_kind_and_what_is_not_keeps_its_own(site: Site):
    sample = BENCHMARKS["clear"].sample
    assert sample is not None
    add_data(
        BENCHMARKS["clear"], BENCHMARKS["clear"].folder / sample.name, site.data, attestation=None
    )
    (site.data / "med_qa").mkdir()
    (site.data / "med_qa" / "more.jsonl").write_text("")
    with FaultServer(models=["a/b"], ignores=["seed"]) as server:
        lines = list(summarise_ready(examine(site, server.url, "a/b")))
    (benchmarks,) = [check for check in lines if check.subject == "benchmarks"]
    ready = "the data of 1 is ready (see `intramural datasets list`)"
    assert ready in benchmarks.finding
    assert f"{len(BENCHMARKS) - 2} have only their sample, real or invented" in benchmarks.finding
    (own,) = [check for check in lines if check.subject.startswith("benchmark ")]
    assert (own.subject, own.verdict) == ("benchmark med_qa", "failed")
    of_server = [check for check in lines if check.subject.startswith("server, model a/b")]
    assert [check.verdict for check in of_server].count("ok") == 1
    assert "server, model a/b, seed" in [check.subject for check in of_server]

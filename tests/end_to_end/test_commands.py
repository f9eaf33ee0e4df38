"""The commands of a site as a user gives them, right and wrong."""

import csv
import io
import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.agent.fault_server import Asked, FaultServer, Message
from tests.end_to_end.conftest import ROOT, UserSite, intramural


def answer(asked: Asked) -> Message | None:
    if "invented person" not in asked.prompt:
        return None
    return Message({"role": "assistant", "content": "Yes" if "1" in asked.prompt else "No"})


@pytest.fixture
def site(make_site) -> UserSite:
    return make_site(instances=40)


@pytest.mark.full
def test_init_makes_private_folders_and_never_overwrites(tmp_path: Path):
    made = intramural("init", tmp_path / "site", "--site-name", "St. Example")
    assert made.returncode == 0, made.stderr
    for path in (tmp_path / "site", tmp_path / "site" / "keys", tmp_path / "site" / "store"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o700, path
    keys = {path.name: path.read_bytes() for path in (tmp_path / "site" / "keys").iterdir()}
    again = intramural("init", tmp_path / "site", "--site-name", "Other")
    assert again.returncode == 2
    assert "not empty" in again.stderr
    assert {path.name: path.read_bytes() for path in (tmp_path / "site" / "keys").iterdir()} == keys


def test_the_site_is_found_by_option_environment_or_current_directory(
    site: UserSite, tmp_path: Path
):
    assert site.intramural("audit").returncode == 0
    environment = {**os.environ, "INTRAMURAL_SITE": str(site.directory)}
    assert intramural("audit", env=environment).returncode == 0
    elsewhere = intramural("--site", tmp_path, "audit")
    assert elsewhere.returncode == 2
    assert "is not a site directory" in elsewhere.stderr
    assert "intramural init" in elsewhere.stderr


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("max_in_fligt: 3", "max_in_fligt: unknown setting"),
        ("max_in_flight: many", "max_in_flight: "),
        ("attempt_timeout_s: 0", "attempt_timeout_s: "),
        ("  - broken: [", "site.yaml: line 3"),
        ("max_in_flight: 3\nmax_in_flight: 4", "max_in_flight"),
    ],
)
def test_a_wrong_setting_is_named(site: UserSite, line: str, named: str):
    with (site.directory / "site.yaml").open("a") as file:
        file.write(line + "\n")
    for command in (["audit"], ["doctor"]):
        done = site.intramural(*command)
        assert done.returncode == 2
        assert named in done.stdout + done.stderr


def test_every_wrong_setting_is_named_at_once(site: UserSite):
    with (site.directory / "site.yaml").open("a") as file:
        file.write("first_wrong: 1\nsecond_wrong: 2\n")
    done = site.intramural("audit")
    assert "first_wrong" in done.stderr
    assert "second_wrong" in done.stderr


def test_a_run_through_a_deployments_file_with_a_token(site: UserSite, tmp_path: Path):
    token = tmp_path / "token"
    token.write_text("very-secret-token\n")
    token.chmod(0o600)
    with FaultServer(models=["served-name"], fault=answer, token="very-secret-token") as server:
        (site.directory / "model_deployments.yaml").write_text(
            f"""model_deployments:
  - name: local/qwen
    model_name: qwen/qwen2.5-7b-instruct
    tokenizer_name: qwen/qwen2.5-7b-instruct
    max_sequence_length: 32000
    token_file: {token}
    client_spec:
      class_name: helm.clients.vllm_client.VLLMChatClient
      args: {{base_url: "{server.url}", vllm_model_name: served-name}}
"""
        )
        entry = (
            f"medhelm_configurable_benchmark:config_path={site.config},"
            "model=qwen/qwen2.5-7b-instruct,model_deployment=local/qwen"
        )
        done = site.intramural(
            "run", "--run-entries", entry, "--suite", "s", "--max-eval-instances", "10"
        )
        assert done.returncode == 0, done.stderr
        assert {
            asked.body["model"] for asked in server.asked if "invented person" in asked.prompt
        } == {"served-name"}
    row = site.summary()
    assert (row["n"], row["model"], row["deployment"]) == (
        10,
        "qwen/qwen2.5-7b-instruct",
        "local/qwen",
    )
    assert "very-secret-token" not in done.stdout + done.stderr + json.dumps(row)


def test_a_conf_file_with_models_to_run(site: UserSite, tmp_path: Path):
    conf = tmp_path / "entries.conf"
    conf.write_text(
        'entries: [ {description: "pubmed_qa:model=text", priority: 1},'
        ' {description: "med_qa:model=text", priority: 3} ]'
    )
    with FaultServer(models=["test/model"], answer="A") as server:
        words = [
            "run",
            "--server",
            server.url,
            "--conf-paths",
            conf,
            "--models-to-run",
            "test/model",
            "-m",
            "5",
        ]
        done = site.intramural(*words, "--priority", "2", "--suite", "s")
    assert done.returncode == 0, done.stderr
    assert (site.summary()["benchmark"], site.summary()["n"]) == ("pubmed_qa", 5)


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["run"], 2, "no run entries given"),
        (["run", "-r", "no_such:model=a/b"], 2, "no_such"),
        (["run", "-r", "pubmed_qa:model=a/b"], 2, "a/b"),
        (
            ["run", "-r", "pubmed_qa:model=a/b,nonsense=1", "--server", "http://127.0.0.1:9/v1"],
            2,
            "nonsense",
        ),
        (
            ["run", "-r", "pubmed_qa:model=a/b", "--server", "http://192.0.2.1/v1"],
            2,
            "may not be sent",
        ),
        (["run", "-r", "pubmed_qa:model=a/b", "--server", "ftp://127.0.0.1/v1"], 2, "http"),
        (["run", "-c", "/no/such.conf"], 2, "such.conf"),
        (["summarize", "--suite", "none"], 2, "there is no suite none"),
        (["benchmarks", "show", "nothing"], 2, "there is no benchmark 'nothing'"),
        (["purge"], 2, "--older-than"),
        (["nonsense"], 2, "nonsense"),
    ],
)
def test_a_wrong_command_says_what_to_do_and_asks_nothing(
    site: UserSite, words: list[str], code: int, said: str
):
    done = site.intramural(*words)
    assert done.returncode == code, done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert site.stored() == []


def test_a_missing_or_open_key_stops_everything(site: UserSite):
    key = site.directory / "keys" / "data.key"
    key.chmod(0o644)
    assert site.intramural("audit").returncode == 8
    key.chmod(0o600)
    key.rename(key.with_suffix(".away"))
    done = site.intramural("audit")
    assert done.returncode == 8
    assert "data key is missing" in done.stderr


def test_summary_tables_for_people_and_programs(site: UserSite):
    with FaultServer(models=["test/model"], fault=answer) as server:
        assert site.run(server.url).returncode == 0
    row = site.summary()
    assert row["n"] == 40
    assert row["interval"] == "wilson"
    assert row["low"] < row["mean"] < row["high"]
    table = site.intramural("summarize", "--suite", "s").stdout
    assert f"{row['mean']:.3f}" in table
    assert "Metrics: exact_match (own)" in table
    assert "not a known version of the benchmark's data" not in table  # it is the site's own
    (line,) = csv.DictReader(
        io.StringIO(site.intramural("summarize", "--suite", "s", "--format", "csv").stdout)
    )
    assert float(line["mean"]) == row["mean"]
    assert (line["n"], line["units"], line["unscored_reasons"]) == ("40", "40", "")


def test_prompts_never_take_the_sites_proxy(site: UserSite):
    with FaultServer() as proxy, FaultServer(models=["test/model"], fault=answer) as server:
        site.set(f"proxy: {proxy.url.removesuffix('/v1')}")
        environment = {
            **os.environ,
            "HTTP_PROXY": proxy.url,
            "http_proxy": proxy.url,
            "ALL_PROXY": proxy.url,
        }
        done = intramural("--site", site.directory, *site.run_words(server.url), env=environment)
        assert done.returncode == 0, done.stderr
        assert proxy.connections == 0
        assert len(server.prompts) > 40


def test_a_deployments_own_proxy_must_be_an_allowed_host(site: UserSite):
    (site.directory / "model_deployments.yaml").write_text(
        "model_deployments:\n  - name: local/m\n    model_name: a/b\n    proxy: http://192.0.2.7:3128\n"
        "    client_spec: {class_name: helm.clients.vllm_client.VLLMChatClient,"
        " args: {base_url: 'http://127.0.0.1:9/v1'}}\n"
    )
    done = site.intramural("run", "-r", "pubmed_qa:model=a/b")
    assert done.returncode == 2
    assert "may not be sent to the proxy" in done.stderr


@pytest.mark.full
def test_a_smaller_run_does_not_take_scores_away_unless_told_so(site: UserSite):
    with FaultServer(models=["test/model"], fault=answer) as server:
        assert site.run(server.url).returncode == 0
        refused = site.run(server.url, "-m", "3")
        assert refused.returncode == 2
        assert "37 of the scored instances missing" in refused.stderr
        assert site.summary()["n"] == 40
        assert site.run(server.url, "--scoring", "helm").returncode == 2
        assert site.run(server.url, "-m", "3", "--replace").returncode == 0
    assert site.summary()["n"] == 3


def test_a_finished_run_needs_no_server_to_be_given_again(site: UserSite):
    with FaultServer(models=["test/model"], fault=answer) as server:
        assert site.run(server.url).returncode == 0
    again = site.run(server.url)
    assert again.returncode == 0, again.stderr
    assert "asked 0, kept 40" in again.stdout


@pytest.mark.full
def test_answers_of_one_server_are_not_passed_off_as_anothers(site: UserSite):
    with (
        FaultServer(models=["test/model"], answer="Yes") as one,
        FaultServer(models=["test/model"], answer="No") as two,
    ):
        for server in (one, two):
            done = site.run(server.url)
            assert done.returncode == 0, done.stderr
            assert "asked 40, kept 0" in done.stdout
    rows = json.loads(site.intramural("summarize", "--suite", "s", "--format", "json").stdout)
    assert sorted(row["mean"] for row in rows) == [0.0, 1.0]
    assert "Deployment" in site.intramural("summarize", "--suite", "s").stdout


def test_two_models_of_one_server_are_asked_each_by_its_name(site: UserSite):
    with FaultServer(models=["test/one", "test/two"], answer="Yes") as server:
        entries = [site.run_words(server.url, model=model)[4] for model in ("test/one", "test/two")]
        done = site.intramural("run", "--server", server.url, "--suite", "s", "-r", *entries)
        assert done.returncode == 0, done.stderr
        asked = [asked.body["model"] for asked in server.asked if "invented person" in asked.prompt]
    assert sorted(set(asked)) == ["test/one", "test/two"]
    assert len(asked) == 80


def test_options_take_several_values_as_helms_do(site: UserSite):
    with FaultServer(models=["test/model"], answer="A") as server:
        words = [
            "run",
            "--server",
            server.url,
            "-m",
            "2",
            "-r",
            "pubmed_qa:model=test/model",
            "med_qa:model=test/model",
        ]
        done = site.intramural(*words, "--suite", "s", "-n", "2")
    assert done.returncode == 0, done.stderr
    assert "2 runs in suite s: asked 4" in done.stdout


def test_a_dry_run_asks_no_question_of_the_benchmark(site: UserSite):
    with FaultServer(models=["test/model"]) as server:
        done = site.run(server.url, "--dry-run", "-m", "7")
        assert (
            done.returncode,
            [prompt for prompt in server.prompts if "invented person" in prompt],
        ) == (0, [])
    assert "7 of 40 instances" in done.stdout
    assert site.stored() == []


@pytest.mark.full
def test_a_disk_that_fills_up_ends_the_run_and_what_was_kept_stays(site: UserSite):
    script = (
        "import resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "from pathlib import Path; from agent.runs.score_writer import ScoreWriter\n"
        "begin = ScoreWriter.write\n"
        "def limited(self):\n"
        "    begin(self)\n"
        "    size = max(p.stat().st_size for p in (Path(sys.argv[2]) / 'store').iterdir())\n"
        "    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 100,) * 2)\n"
        "ScoreWriter.write = limited\n"
        "from agent.cli.main import main; main()\n"
    )
    with FaultServer(models=["test/model"], answer="Yes", latency_s=0.1) as server:
        words = ["--site", str(site.directory), *site.run_words(server.url, "--max-in-flight", "2")]
        done = subprocess.run(
            [sys.executable, "-c", script, *words],
            capture_output=True,
            text=True,
            check=False,
            cwd=ROOT,
            timeout=60,
        )
        assert done.returncode == 8, done.stderr
        assert "the store cannot be written (SQLITE_" in done.stderr
        assert "Traceback" not in done.stderr
        asked = len([prompt for prompt in server.prompts if "invented person" in prompt])
        assert asked < 40  # it did not go on asking for nothing
        assert site.run(server.url).returncode == 0
    assert site.summary()["n"] == 40


@pytest.mark.full
def test_a_wrong_data_key_stops_every_command_and_spoils_nothing(site: UserSite, tmp_path: Path):
    other = intramural("init", tmp_path / "other", "--site-name", "Other")
    assert other.returncode == 0
    key = site.directory / "keys" / "data.key"
    right = key.read_bytes()
    key.write_bytes((tmp_path / "other" / "keys" / "data.key").read_bytes())
    for words in (
        ["audit"],
        ["purge", "--older-than", "0"],
        ["summarize"],
        ["export", "--out", tmp_path / "x"],
    ):
        done = site.intramural(*words)
        assert done.returncode == 8
        assert "not the one that this store was created with" in done.stderr
    key.write_bytes(right)
    assert site.intramural("audit").returncode == 0


@pytest.mark.full
def test_export_is_redacted_unless_revealed_and_revealing_is_written_down(
    tmp_path: Path, make_site
):
    site = make_site(instances=3)
    path = site.config.with_name("dataset.csv")
    path.write_text(
        path.read_text().replace(
            "an invented person", "Mr. Ignatius Quellmalz; MRN 8842331; born 03/14/1951"
        )
    )
    with FaultServer(models=["test/model"], answer="Mr. Ignatius Quellmalz says Yes") as server:
        assert site.run(server.url).returncode == 0
    assert site.intramural("export", "--suite", "s", "--out", tmp_path / "out").returncode == 0
    text = (tmp_path / "out" / "instances.jsonl").read_text()
    for identifier in ("Quellmalz", "8842331", "03/14/1951"):
        assert identifier not in text
    lines = [json.loads(line) for line in text.splitlines()]
    assert len(lines) == 3
    assert lines[0]["scores"] == {"exact_match": 0.0}
    assert "reveal" not in site.intramural("audit").stdout
    revealed = site.intramural("export", "--suite", "s", "--out", tmp_path / "plain", "--reveal")
    assert revealed.returncode == 0
    assert "Quellmalz" in (tmp_path / "plain" / "instances.jsonl").read_text()
    assert "export run=" in site.intramural("audit").stdout
    assert stat.S_IMODE((tmp_path / "plain" / "instances.jsonl").stat().st_mode) == 0o600
    again = site.intramural("export", "--suite", "s", "--out", tmp_path / "plain")
    assert again.returncode == 2


@pytest.mark.full
def test_purged_texts_are_gone_and_scores_stay(site: UserSite):
    with FaultServer(models=["test/model"], fault=answer) as server:
        assert site.run(server.url).returncode == 0
        before = site.summary()
        kept = site.intramural("purge", "--older-than", "1")
        assert "0 texts deleted" in kept.stdout
        assert "80 texts deleted" in site.intramural("purge", "--older-than", "0").stdout
        # Tokens and times are kept with the texts.
        assert site.summary() == before | {"usage": None, "model_usage": None}
        asked = len([prompt for prompt in server.prompts if "invented person" in prompt])
        assert site.run(server.url).returncode == 0
        assert len([prompt for prompt in server.prompts if "invented person" in prompt]) == asked


def test_purging_is_written_down_and_keeps_to_the_sites_rule(site: UserSite):
    site.set("keep_texts_days: 30")
    done = site.intramural("purge")
    assert done.returncode == 0, done.stderr
    assert "older_than_days=30 texts=0" in site.intramural("audit").stdout


def test_a_servers_own_habits_are_undone_and_an_entrys_stop_arrives(make_site):
    site = make_site(instances=3)
    with FaultServer(
        models=["test/model"], owned_by="llamacpp", answer="Yes ### and more"
    ) as server:
        (entry,) = [word for word in site.run_words(server.url) if word.startswith("medhelm")]
        done = site.intramural(
            "run", "--server", server.url, "--suite", "s", "-r", f"{entry},stop=hash"
        )
        assert done.returncode == 0, done.stderr
        bodies = [asked.body for asked in server.asked if "invented person" in asked.prompt]
    assert [body["repeat_penalty"] for body in bodies] == [1.0] * 3
    assert [body["stop"] for body in bodies] == [["###"]] * 3


@pytest.mark.full
def test_a_stop_that_the_server_ignores_is_cut_here_and_said(make_site):
    site = make_site(instances=3)
    with FaultServer(models=["test/model"], ignores=["stop"], answer="Yes###and more") as server:
        (entry,) = [word for word in site.run_words(server.url) if word.startswith("medhelm")]
        done = site.intramural(
            "run", "--server", server.url, "--suite", "s", "-r", f"{entry},stop=hash"
        )
    assert done.returncode == 0, done.stderr
    assert "note: " in done.stderr
    assert "stop" in done.stderr
    assert site.summary()["mean"] == 1.0


def test_a_server_that_knows_no_limit_of_tokens_is_refused(site: UserSite):
    ignores = ["max_tokens", "max_completion_tokens"]
    with FaultServer(models=["test/model"], ignores=ignores) as server:
        done = site.run(server.url)
        assert done.returncode == 4, done.stderr
        assert not [prompt for prompt in server.prompts if "invented person" in prompt]
    assert site.stored() == []


@pytest.mark.full
def test_doctor_on_a_healthy_site(site: UserSite):
    with FaultServer(models=["test/model"], answer="ready") as server:
        done = site.intramural(
            "doctor", "--server", server.url, "--model", "test/model", "--format", "json"
        )
    checks = {check["what"]: check for check in json.loads(done.stdout)}
    assert done.returncode == 0, done.stdout
    assert {check["verdict"] for check in checks.values()} <= {"ok", "warning"}
    for what in (
        "settings",
        "data key",
        "seal key",
        "agent key",
        "store",
        "redaction",
        "disclosure policy",
        "outgoing",
    ):
        assert checks[what]["verdict"] == "ok", checks[what]
    assert checks["benchmark pubmed_qa"]["verdict"] == "ok"
    assert checks["server, model test/model, answer"]["verdict"] == "ok"


@pytest.mark.full
@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("harm", "what", "code"),
    [
        (lambda site: (site.directory / "keys" / "data.key").unlink(), "data key", 8),
        (lambda site: (site.directory / "keys" / "seal.key").unlink(), "seal key", 8),
        (lambda site: (site.directory / "keys" / "agent.key").chmod(0o640), "agent key", 8),
        (
            lambda site: (site.directory / "store" / "site.sqlite3").write_bytes(b"x" * 5000),
            "store",
            8,
        ),
        (lambda site: site.set("redaction_policy: none_such"), "redaction", 5),
        (lambda site: site.set("disclosure_policy: none_such"), "disclosure policy", 6),
        (
            lambda site: (site.directory / "model_deployments.yaml").write_text("x: ["),
            "deployments",
            2,
        ),
    ],
    ids=[
        "no-data-key",
        "no-seal-key",
        "open-agent-key",
        "damaged-store",
        "no-redaction",
        "no-disclosure",
        "broken-deployments",
    ],
)
def test_doctor_finds_what_is_broken_and_goes_on(site: UserSite, harm, what: str, code: int):
    harm(site)
    done = site.intramural("doctor", "--format", "json")
    checks = {check["what"]: check for check in json.loads(done.stdout)}
    assert checks[what]["verdict"] == "failed"
    assert checks[what]["advice"]
    assert done.returncode == code
    assert "benchmark med_qa" in checks


@pytest.mark.full
def test_doctor_warns_of_what_a_server_ignores(site: UserSite):
    ignores = ["stop", "n", "seed", "logprobs", "response_format"]
    with FaultServer(models=["test/model"], ignores=ignores) as server:
        done = site.intramural("doctor", "--server", server.url, "--model", "test/model")
    assert done.returncode == 0, done.stdout
    for feature in ("stop", "n", "logprobs"):
        assert f"server, model test/model, {feature}:" in done.stdout


@pytest.mark.full
def test_doctor_on_a_dead_server_fails_with_the_servers_code(site: UserSite):
    server = FaultServer()
    server.start()
    server.stop()
    done = site.intramural("doctor", "--server", server.url, "--model", "test/model")
    assert done.returncode == 4
    assert "FAILED" in done.stdout


@pytest.mark.full
def test_scores_by_helms_rules_stand_beside_ours(make_site):
    site = make_site(instances=1)
    with FaultServer(models=["test/model"], answer="Answer: A") as server:
        for scoring, suite in (("intramural", "right"), ("helm", "parity")):
            words = [
                "run",
                "--server",
                server.url,
                "-r",
                "pubmed_qa:model=test/model",
                "--suite",
                suite,
                "-m",
                "20",
            ]
            assert site.intramural(*words, "--scoring", scoring).returncode == 0
        asked = [prompt for prompt in server.prompts if "Question" in prompt]
    right, parity = (
        json.loads(site.intramural("summarize", "--suite", suite, "--format", "json").stdout)[0]
        for suite in ("right", "parity")
    )
    assert right["mean"] > 0.3
    assert (parity["mean"], parity["n"]) == (0.0, 20)  # upstream takes a bare letter only
    assert len(asked) == len(set(asked))  # the answers were shared

"""What a run would take is said before it, what it took after it; and prompts that are too long are shortened."""

import csv
import re
import shutil
from pathlib import Path

import pytest

from tests.agent.fault_server import Status
from tests.agent.inference.counting_server import CountingServer
from tests.end_to_end.conftest import UserSite

WINDOW = 300
LONG = [0, 3, 7]  # rows whose note does not fit


@pytest.fixture
def site(make_site) -> UserSite:
    """A site with a benchmark of twelve notes, three of them too long, and one question that is too long itself."""
    site = make_site(instances=1)
    with (site.config.parent / "dataset.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["note", "question", "correct_answer"])
        for i in range(12):
            note = " ".join(f"w{i}x{j}" for j in range(900 if i in LONG else 40))
            question = " ".join(["long"] * 500) if i == 11 else "Is it so?"
            writer.writerow([note, question, "Yes"])
    with site.config.open("a") as file:
        file.write(
            "shorten: {column: note, keep: start}\narguments:\n  max_length: {kind: tokens, default: '100000'}\n"
        )
    return site


def test_a_dry_run_counts_and_times_and_sends_no_question(site: UserSite):
    with CountingServer(models=["test/model"], window=WINDOW) as server:
        done = site.run(server.url, "--dry-run")
        assert done.returncode == 0, done.stderr
        assert [prompt for prompt in server.prompts if "x1" in prompt] == []
        assert any("w0x1" in str(counted.body) for counted in server.counted)
    said = done.stdout
    assert "12 of 12 instances" in said
    assert "11 requests, about " in said
    assert "12 prompts were counted" in said
    # Eight short prompts of 55 words, three cut to the window less 16 of answer.
    (tokens,) = re.findall(r"about ([\d,]+) tokens in", said)
    assert 8 * 50 + 3 * 270 <= int(tokens.replace(",", "")) <= 8 * 60 + 3 * 284
    assert "prompts that would be shortened to fit: 3" in said
    assert "no score (context_length): 1" in said
    assert re.search(r"\d+ to 176 tokens out", said)
    assert re.search(
        r"takes .*\d (s|min), from a trial of the server with 8 concurrent questions", said
    )


def test_a_dry_run_without_a_server_is_still_of_use(site: UserSite):
    done = site.run("http://127.0.0.1:9/v1", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "12 requests" in done.stdout
    assert "assuming 4 characters per token" in done.stdout
    assert (
        "no expected duration, and prompts were not counted: the server 127.0.0.1:9" in done.stdout
    )
    assert "refuses connections" in done.stdout


def test_a_dry_run_of_what_would_be_refused_fails(site: UserSite):
    with CountingServer(
        models=["test/model"], window=WINDOW, ignores={"max_tokens", "max_completion_tokens"}
    ) as server:
        done = site.run(server.url, "--dry-run")
    assert done.returncode == 4
    assert "would be refused: " in done.stdout


@pytest.mark.full
def test_over_long_notes_are_shortened_and_told_and_an_over_long_question_is_not_asked(
    site: UserSite,
):
    def flaky(asked):
        return (
            Status(503)
            if "w5x1 " in asked.prompt
            and not any(a.number < asked.number and "w5x1 " in a.prompt for a in server.asked)
            else None
        )

    with CountingServer(models=["test/model"], window=WINDOW, fault=flaky) as server:
        done = site.run(server.url)
        sent = [prompt for prompt in server.prompts if "Question: Is it so?" in prompt]
        again = site.run(server.url)
    for one in (done, again):  # one prompt cannot be made to fit, whoever tries again
        assert one.returncode == 0, one.stderr
        assert "1 prompt does not fit its model; running again cannot help." in one.stderr
    assert "asked 11, kept 0, failed 0" in done.stdout
    assert "unscored: 1 context_length" in done.stdout
    assert "11 answers, 12 requests (1 retries)" in done.stdout
    assert "prompts shortened to fit: 3, by " in done.stdout
    assert len({*sent}) == 11
    assert all(prompt.endswith("\n\nQuestion: Is it so?\n\nAnswer Yes or No:") for prompt in sent)


def test_a_limit_of_the_run_entry_bounds_the_prompt(site: UserSite):
    with CountingServer(models=["test/model"], window=100_000) as server:
        own = site.directory / "benchmarks" / "own"
        shutil.copytree(site.config.parent, own)
        (own / "own.yaml").rename(own / "benchmark.yaml")
        done = site.intramural(
            "run", "--server", server.url, "-r", "own:max_length=100,model=test/model", "-n", "2"
        )
        sent = [len(prompt.split()) for prompt in server.prompts if "Question: Is it so?" in prompt]
    assert "prompts shortened to fit: 3" in done.stdout, done.stderr
    assert max(sent) <= 100


def test_prices_of_the_deployment_become_a_cost(site: UserSite):
    with CountingServer(models=["m"], window=WINDOW, answer="Yes") as server:
        (site.directory / "model_deployments.yaml").write_text(
            "model_deployments:\n  - name: test/m\n    price_per_million_prompt_tokens: 1000000\n"
            "    price_per_million_completion_tokens: 0\n    gpu_hour_rate: 0\n    gpus: 1\n    currency: EUR\n"
            f"    client_spec: {{class_name: VLLMChatClient, args: {{base_url: '{server.url}'}}}}\n"
        )
        entry = f"medhelm_configurable_benchmark:config_path={site.config},model=test/m"
        dry = site.intramural("run", "-r", entry, "--dry-run")
        done = site.intramural("run", "-r", entry)
    (tokens,) = re.findall(r"([\d,]+) tokens in,", done.stdout)
    assert f"cost: {tokens}.00 EUR by tokens, 0.00 EUR by GPU hours" in done.stdout
    assert re.search(r"costs about [\d,]+\.00 EUR by tokens", dry.stdout), dry.stdout + dry.stderr


def test_a_tokenizer_file_that_is_missing_is_said_before_anything_is_asked(
    site: UserSite, tmp_path: Path
):
    with CountingServer(models=["m"], kind="neither") as server:
        (site.directory / "model_deployments.yaml").write_text(
            "model_deployments:\n  - name: test/m\n    tokenizer_file: nowhere.json\n"
            f"    client_spec: {{class_name: VLLMChatClient, args: {{base_url: '{server.url}'}}}}\n"
        )
        entry = f"medhelm_configurable_benchmark:config_path={site.config},model=test/m"
        done = site.intramural("run", "-r", entry)
        assert server.seen_paths == []
    assert done.returncode == 2
    assert "tokenizer_file cannot be read" in done.stderr

"""model_deployments.yaml as HELM's users have it, and what must not stand in it."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from agent.catalog import deployments
from agent.catalog.deployments import (
    Deployment,
    Prices,
    find_deployment,
    make_server_deployment,
    read_deployments,
)
from agent.catalog.run_entries import parse_run_entry
from agent.errors import ConfigError

HELM = """
model_deployments:
  - name: local/qwen
    model_name: qwen/qwen2.5-7b-instruct
    tokenizer_name: qwen/qwen2.5-7b-instruct
    max_sequence_length: 32768
    client_spec:
      class_name: "helm.clients.vllm_client.VLLMChatClient"
      args:
        base_url: http://127.0.0.1:8000/v1/
        vllm_model_name: Qwen/Qwen2.5-7B-Instruct
  - name: local/gpt
    model_name: openai/gpt-oss
    tokenizer_name: openai/o200k_base
    max_sequence_length: 128000
    max_sequence_and_generated_tokens_length: 131072
    window_service_spec: {class_name: helm.x.Y}
    deprecated: false
    client_spec:
      class_name: "helm.clients.openai_client.OpenAIClient"
      args:
        base_url: https://models.hospital.example/v1
        openai_model_name: gpt-oss-120b
        reasoning_effort: low
  - name: hosted/claude
    model_name: anthropic/claude
    client_spec:
      class_name: "helm.clients.anthropic_client.AnthropicMessagesClient"
      args: {thinking_budget_tokens: 10000}
"""


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "model_deployments.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def refused(tmp_path: Path, text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        read_deployments(write(tmp_path, text))
    return str(caught.value)


def test_helms_file_is_read_unchanged(tmp_path):
    found = read_deployments(write(tmp_path, HELM))
    assert list(found) == ["local/qwen", "local/gpt", "hosted/claude"]
    assert found["local/qwen"] == Deployment(
        name="local/qwen",
        model_name="qwen/qwen2.5-7b-instruct",
        base_url="http://127.0.0.1:8000/v1",
        served_model="Qwen/Qwen2.5-7B-Instruct",
        served_model_key="vllm_model_name",
        max_sequence_length=32768,
        unused_keys=("tokenizer_name",),
    )
    assert found["local/gpt"].served_model == "gpt-oss-120b"
    assert found["local/gpt"].served_model_key == "openai_model_name"
    assert set(found["local/gpt"].unused_keys) == {
        "tokenizer_name",
        "window_service_spec",
        "max_sequence_and_generated_tokens_length",
        "client_spec.args.reasoning_effort",
    }
    assert "AnthropicMessagesClient" in found["hosted/claude"].problem


def test_our_own_keys(tmp_path):
    text = (
        "model_deployments:\n  - name: a/b\n    token_file: keys/token\n    ca_bundle: ca.pem\n    max_in_flight: 32\n"
        "    proxy: http://proxy.example:3128\n    reasoning: true\n    client_spec:\n"
        "      class_name: helm.clients.vllm_client.VLLMChatClient\n      args: {base_url: 'http://h/v1'}\n"
    )
    (found,) = read_deployments(write(tmp_path, text)).values()
    assert (found.model_name, found.served_model) == ("a/b", "b")
    assert found.served_model_key == "vllm_model_name"  # where another name would be written
    assert (found.token_file, found.ca_bundle) == (tmp_path / "keys/token", tmp_path / "ca.pem")
    assert (found.max_in_flight, found.proxy, found.reasoning) == (
        32,
        "http://proxy.example:3128",
        True,
    )


@pytest.mark.parametrize(
    "place", ["    api_key: {}\n", "      args: {{base_url: 'http://h/v1', api_key: {}}}\n"]
)
def test_a_key_in_the_file_is_refused_and_not_repeated(tmp_path, place):
    text = (
        "model_deployments:\n  - name: a/b\n    client_spec:\n      class_name: x.OpenAIClient\n"
        + ("" if "args" in place else "      args: {base_url: 'http://h/v1'}\n")
        + place.format("sk-secret")
    )
    said = refused(tmp_path, text)
    assert "api_key: this file must not contain a key" in said
    assert "token_file" in said
    assert "sk-secret" not in said
    read_deployments(write(tmp_path, text.replace("sk-secret", "EMPTY")))  # what HELM sends to vLLM


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            ("max_sequence_length: 32768", "max_sequence_lenght: 5"),
            "(did you mean 'max_sequence_length'?)",
        ),
        (
            ("vllm_model_name", "vllm_modelname"),
            "args.vllm_modelname: unknown key (did you mean 'vllm_model_name'?)",
        ),
        (
            ("http://127.0.0.1:8000/v1/", "127.0.0.1:8000"),
            "base_url: expected an address that begins with http",
        ),
        (
            ("http://127.0.0.1:8000/v1/", "http://u:p@h/v1"),
            "base_url: expected an address without user",
        ),
        (("http://127.0.0.1:8000/v1/", "http://h:99999/v1"), "base_url: expected a web address"),
        (("local/gpt", "local/qwen"), "'local/qwen' occurs twice"),
        (("max_sequence_length: 32768", "max_sequence_length: long"), "expected a whole number"),
        (
            ("model_deployments:", "deployments:"),
            "deployments: unknown key (did you mean 'model_deployments'?)",
        ),
    ],
)
def test_files_that_are_wrong(tmp_path, change, said):
    assert change[0] in HELM
    assert said in refused(tmp_path, HELM.replace(*change))


def test_what_helm_writes_for_other_clients_is_not_our_affair(tmp_path):
    text = HELM + HELM[HELM.index("  - name: hosted/claude") :].replace(
        "args:", "deployment: x\n      args:"
    )
    found = read_deployments(write(tmp_path, text))
    assert "AnthropicMessagesClient" in found["hosted/claude"].problem
    assert "api_key: this file must not contain a key" in refused(
        tmp_path, HELM.replace("thinking_budget_tokens: 1", "api_key: 1")
    )


def test_a_compatible_client_without_an_address_never_falls_back_to_one_outside(tmp_path):
    text = "model_deployments: [{name: openai/gpt, client_spec: {class_name: helm.clients.openai_client.OpenAIClient}}]"
    (found,) = read_deployments(write(tmp_path, text)).values()
    assert (found.base_url, found.problem) == ("", "it has no base_url")


def test_a_deployment_without_a_client(tmp_path):
    assert "client_spec: is required" in refused(tmp_path, "model_deployments: [{name: a/b}]")


def test_entries_find_their_deployment(tmp_path):
    found = read_deployments(write(tmp_path, HELM))

    def of(text: str) -> Deployment:
        return find_deployment(parse_run_entry(f"pubmed_qa:{text}"), found)

    assert of("model=qwen/qwen2.5-7b-instruct,model_deployment=local/qwen").name == "local/qwen"
    assert of("model=openai/gpt-oss").name == "local/gpt"
    for written in ("gpt-oss", "GPT-OSS", "OpenAI/gpt-oss"):
        assert of(f"model={written}").name == "local/gpt"
    assert of("model=Qwen2.5-7B-instruct,model_deployment=local/qwen").name == "local/qwen"
    for text, said in (
        (
            "model=qwen/qwen2.5-7b-instruct,model_deployment=local/qwne",
            "(did you mean 'local/qwen'?)",
        ),
        ("model=other/one,model_deployment=local/qwen", "serves 'qwen/qwen2.5-7b-instruct'"),
        (
            "model=openai/gpt-os",
            "no deployment of the model 'openai/gpt-os' (did you mean 'openai/gpt-oss'?)",
        ),
        ("model=anthropic/claude", "cannot be used: its client AnthropicMessagesClient"),
    ):
        with pytest.raises(ConfigError) as caught:
            of(text)
        assert said in str(caught.value)


def test_a_last_part_that_stands_for_two_models_is_refused_with_both(tmp_path):
    found = read_deployments(write(tmp_path, HELM))
    found["other"] = replace(found["local/gpt"], name="other", model_name="other/gpt-oss")
    with pytest.raises(ConfigError, match="may be openai/gpt-oss or other/gpt-oss") as caught:
        find_deployment(parse_run_entry("pubmed_qa:model=gpt-oss"), found)
    assert caught.value.advice == "Write the whole name in the run entry."


def test_a_server_named_on_the_command_line():
    made = make_server_deployment("http://127.0.0.1:8000/v1/", "baseline/lead")
    assert made.model_name == "baseline/lead"
    assert (made.base_url, made.served_model) == ("http://127.0.0.1:8000/v1", "baseline/lead")
    for url in ("127.0.0.1:8000", "ftp://h/v1", "http://", "http://u:p@h/v1", "http://h/v1?key=1"):
        with pytest.raises(ConfigError, match="--server"):
            make_server_deployment(url, "a/b")
    with pytest.raises(ConfigError, match="--server needs a model"):
        make_server_deployment("http://h/v1", "")


def test_two_servers_that_know_a_model_by_one_name_are_two_deployments():
    one, same, *others = (
        make_server_deployment(url, "a/b").name
        for url in (
            "http://gpu7.hospital.example/v1",
            "HTTP://GPU7.Hospital.example:80/v1/",
            "https://gpu7.hospital.example/v1",
            "http://gpu7.hospital.example:8000/v1",
            "http://gpu8.hospital.example/v1",
            "http://gpu7.hospital.example/V1",
        )
    )
    assert one == same
    assert len({one, *others}) == 5
    assert all(re.fullmatch("server-[0-9a-f]{8}", name) for name in (one, *others))


@pytest.mark.parametrize(
    "key", ["name: local/qwen", "qwen/qwen2.5-7b-instruct", "Qwen/Qwen2.5-7B-Instruct"]
)
def test_a_name_that_a_terminal_would_obey(tmp_path, key):
    first, _, last = key.rpartition(" ")
    said = refused(tmp_path, HELM.replace(key, f'{first} "{last}\\e[2J"', 1))
    assert "contains U+001B, an invisible character" in said
    assert said.replace("\n", "").isprintable()


def test_an_alias_in_the_file(tmp_path):
    assert "anchors and aliases are not supported" in refused(
        tmp_path, HELM.replace("args:", "args: &same", 1)
    )


PRICED = """model_deployments:
  - name: a/b
    tokenizer_file: tokenizers/qwen.json
    {keys}
    client_spec: {{class_name: VLLMChatClient, args: {{base_url: "http://127.0.0.1:8000/v1"}}}}
"""


def priced(*keys: str) -> str:
    return PRICED.format(keys="\n    ".join(keys))


def test_prices_and_the_tokenizer_file(tmp_path):
    text = priced(
        "price_per_million_prompt_tokens: 0.15",
        "price_per_million_completion_tokens: 0.60",
        "gpu_hour_rate: 2.5",
        "gpus: 8",
        "currency: EUR",
    )
    found = read_deployments(write(tmp_path, text))["a/b"]
    assert found.prices == Prices("EUR", 0.15, 0.60, 2.5, 8)
    assert found.tokenizer_file == tmp_path / "tokenizers/qwen.json"
    assert read_deployments(write(tmp_path, priced()))["a/b"].prices is None


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        (
            ["price_per_million_prompt_tokens: 1", "currency: EUR"],
            "together with price_per_million_completion_tokens",
        ),
        (
            ["price_per_million_completion_tokens: 1", "currency: EUR"],
            "together with price_per_million_prompt_tokens",
        ),
        (
            ["gpu_hour_rate: 2", "currency: EUR"],
            "gpu_hour_rate: can only be used together with gpus",
        ),
        (["gpus: 2"], "gpus: can only be used together with gpu_hour_rate"),
        (["gpu_hour_rate: 2", "gpus: 1"], "currency: is required with a price"),
        (["gpu_hour_rate: 2", "gpus: 1", "currency: euros"], "currency"),
        (["gpu_hour_rate: -2", "gpus: 1", "currency: EUR"], "gpu_hour_rate: expected a number"),
        (["gpu_hour_rate: nan", "gpus: 1", "currency: EUR"], "gpu_hour_rate: expected a number"),
        (["gpu_hour_rate: inf", "gpus: 1", "currency: EUR"], "gpu_hour_rate: expected a number"),
        (["gpu_hour_rate: 2,50", "gpus: 1", "currency: EUR"], "gpu_hour_rate: expected a number"),
        (["gpu_hour_rate:", "gpus: 1", "currency: EUR"], "gpu_hour_rate: expected a number"),
        (["gpu_hour_rate: 2", "gpus: 0", "currency: EUR"], "gpus: expected a number from 1"),
    ],
)
def test_a_price_that_is_none_is_refused_by_its_key(tmp_path, keys, said):
    assert said in refused(tmp_path, priced(*keys))


def test_every_key_is_documented():
    """A key that the reader takes and the page does not name, or the other way round, fails here."""
    source = Path(deployments.__file__).read_text("utf-8")
    read = set(
        re.findall(
            r'(?:\bsection\.(?:name|integer|flag|map)|_read_path)\((?:section, )?"(\w+)"', source
        )
    )
    read |= set(re.findall(r'"(price_per_\w+|gpu_hour_rate)"', source))
    page = (Path(__file__).parents[3] / "docs/deployments.md").read_text("utf-8")
    assert set(re.findall(r"^\| `(\w+)`", page, re.MULTILINE)) == read


def replicas_of(urls: str) -> str:
    return HELM.replace("base_url: http://127.0.0.1:8000/v1/", f"base_urls: {urls}")


def test_several_addresses_are_the_replicas_of_one_deployment(tmp_path):
    text = replicas_of("[http://127.0.0.1:8000/v1/, 'http://127.0.0.1:8001/v1']")
    found = read_deployments(write(tmp_path, text))["local/qwen"]
    assert found.base_url == "http://127.0.0.1:8000/v1"
    assert found.replicas == ("http://127.0.0.1:8000/v1", "http://127.0.0.1:8001/v1")
    single = read_deployments(write(tmp_path, replicas_of("['http://h/v1']")))["local/qwen"]
    assert (single.base_url, single.replicas) == ("http://h/v1", ())


@pytest.mark.parametrize(
    ("urls", "said"),
    [
        ("[]", "base_urls: expected a list of addresses"),
        ("http://h/v1", "base_urls: expected a list of texts"),
        ("['http://h/v1', 'http://u:p@h/v1']", "base_urls: expected an address without user"),
        ("['http://h/v1', 'ftp://h/v1']", "base_urls: expected an address that begins with http"),
        ("['http://h/v1', 'http://h/v1/']", "base_urls: an address occurs twice"),
        (
            "['http://h/v1']\n        base_url: http://h/v1",
            "base_urls: cannot be combined with base_url",
        ),
    ],
)
def test_addresses_of_replicas_that_are_wrong(tmp_path, urls, said):
    assert said in refused(tmp_path, replicas_of(urls))

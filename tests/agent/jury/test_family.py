"""Which judges might favour which models, by their names."""

import pytest

from agent.jury.family import is_same_family


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("openai/gpt-4o-2024-05-13", "gpt"),
        ("openai/gpt-oss-120b", "gpt"),
        ("openai/o3-mini", "gpt"),
        ("o1-2024-12-17", "gpt"),
        ("meta/llama-3.3-70b-instruct", "llama"),
        ("meta-llama/Llama-3.1-8B-Instruct", "llama"),
        ("Meta-Llama-3-70B", "llama"),
        ("anthropic/claude-3-7-sonnet-20250219", "claude"),
        ("google/gemini-1.5-pro-001", "gemini"),
        ("google/medgemma-27b-text-it", "gemini"),
        ("qwen/qwen2.5-7b-instruct", "qwen"),
        ("Qwen/QwQ-32B", "qwen"),
        ("deepseek-ai/deepseek-r1", "deepseek"),
        ("mistralai/Mixtral-8x7B-Instruct-v0.1", "mistral"),
        ("BioMistral/BioMistral-7B", "mistral"),
        ("microsoft/phi-4", "phi"),
        ("microsoft/biogpt-large", "biogpt"),
        ("FreedomIntelligence/HuatuoGPT-o1-7B", "huatuo"),
        ("hospital/judge-7b", "judge"),
        ("hospital/prophylaxis-1", "prophylaxis"),
        ("nobody", "nobody"),
        ("7", "7"),
    ],
)
def test_a_family_is_read_from_the_name(name: str, expected: str):
    assert is_same_family(name, expected)


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        ("openai/gpt-4o", "openai/o3-mini", True),
        ("meta/llama-3.3-70b-instruct", "m42-health/Llama3-Med42-8B", True),
        ("m42-health/med42-70b", "meta/llama-2-70b", True),
        ("deepseek-ai/DeepSeek-R1-Distill-Qwen-7B", "qwen/qwen2.5-7b-instruct", True),
        ("deepseek-ai/DeepSeek-R1-Distill-Qwen-7B", "deepseek-ai/deepseek-v3", True),
        ("deepseek-ai/DeepSeek-R1-Distill-Qwen-7B", "meta/llama-3.3-70b-instruct", False),
        ("google/gemma-3-27b-it", "google/gemini-2.0-flash", True),
        ("microsoft/phi-4", "microsoft/biogpt", False),
        ("anthropic/claude-3-7-sonnet", "openai/gpt-4o", False),
        ("hospital/judge-7b", "elsewhere/judge-70b", True),
        ("hospital/judge-7b", "hospital/scribe-7b", False),
        ("FreedomIntelligence/HuatuoGPT-o1-7B", "openai/o1", False),
    ],
)
def test_pairs(a: str, b: str, same: bool):
    assert is_same_family(a, b) == is_same_family(b, a) == same
    assert is_same_family(a, a)

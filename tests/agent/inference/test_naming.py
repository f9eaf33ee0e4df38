"""Names that a server gives the model that was asked, and names of other models."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.inference.naming import find_listed_name, name_check, name_digest, same_model


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        ("qwen2.5-7b", "qwen2.5-7b"),
        ("qwen2.5-7b", "Qwen/Qwen2.5-7B"),
        ("Qwen/Qwen2.5-7B", "qwen2.5-7b"),
        ("tiny", "/srv/models/tiny/"),
        ("tiny", "C:\\models\\tiny.gguf"),
        ("/srv/a@b/tiny", "/srv/a@b/tiny@main"),
        ("org/tiny", "org/tiny@refs/pr/3"),
        ("llama3", "llama3:latest"),
        ("llama3:latest", "llama3"),
        ("gpt-4o", "gpt-4o-2024-08-06"),
        ("gpt-4", "gpt-4-0613"),
        ("gpt-4o-20240806", "gpt-4o"),
    ],
)
def test_a_form_of_the_name_is_the_same_model(asked, named):
    assert same_model(asked, named)


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        ("qwen2.5-7b", "llama-3-8b"),
        ("qwen2.5-7b", "qwen2.5-7b-instruct"),
        ("qwen2.5-7b", "qwen2.5-72b"),
        ("llama3:8b", "llama3:70b"),
        ("mistral-small-2409", "mistral-small-2501"),
        ("tiny@main", "tiny@other"),
        ("tiny", "/"),
        ("tiny", "x" * 2000 + "/tiny"),
    ],
)
def test_another_model_is_another_model(asked, named):
    assert not same_model(asked, named)


@pytest.mark.parametrize(
    ("asked", "listed", "expected"),
    [
        ("a/tiny", ("a/tiny", "tiny"), "a/tiny"),
        ("Tiny", ("A/tiny", "tiny"), "tiny"),
        ("b/tiny", ("a/tiny",), "a/tiny"),
        ("tiny", ("a/tiny", "b/tiny"), None),
        ("tiny", ("tiny-chat",), None),
        ("tiny", (), None),
    ],
)
def test_the_nearest_listed_name_is_found_and_of_several_none(asked, listed, expected):
    assert find_listed_name(asked, listed) == expected


@given(st.text())
def test_any_name_is_compared_and_is_itself(name):
    assert same_model(name, name)
    assert isinstance(same_model("tiny", name), bool)
    assert name_check(())("tiny", name) == (not name.strip() or same_model("tiny", name))


@pytest.mark.parametrize("named", [None, "", " ", 5, True, ["tiny"], {}])
def test_a_server_need_not_name_its_model(named):
    assert name_check(())("tiny", named)


def test_a_name_is_held_against_the_model_that_was_asked_then():
    accepts = name_check((name_digest("router-8b"),))
    assert accepts("tiny", "tiny@main")
    assert accepts("tiny", "router-8b")
    assert not accepts("other", "tiny@main")
    assert not accepts("tiny", "third-8b")


def test_a_hostile_name_holds_nothing_up():
    accepts = name_check(())
    began = time.process_time()
    for name in ("-2024" * 1_600_000, "/" * 8_000_000, "tiny:" + "@" * 8_000_000):
        accepts("tiny", name)
    assert time.process_time() - began < 2

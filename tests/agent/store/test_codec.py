"""Whatever text a record holds, it comes back as it was."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from agent.store.codec import (
    decode_instance,
    decode_response,
    encode_instance,
    encode_question,
    encode_response,
)
from agent.vocabulary import (
    Identifier,
    Instance,
    Message,
    OptionLikelihood,
    PromptCell,
    Reference,
    Response,
    Shortenable,
)

# Datasets and servers hold everything, lone surrogates and NUL included.
anything = st.text(st.characters(codec=None))
messages = st.builds(Message, st.sampled_from(["system", "user", "assistant"]), anything)
instances = st.builds(
    Instance,
    anything,
    anything,
    st.lists(messages, max_size=3).map(tuple),
    st.lists(st.builds(Reference, anything, st.booleans()), max_size=4).map(tuple),
    st.booleans(),
    st.dictionaries(anything, anything, max_size=3),
    st.dictionaries(anything, anything, max_size=2),
    st.none()
    | st.builds(
        Shortenable, st.integers(0, 9), st.integers(0, 9), st.integers(0, 9), st.just("end")
    ),
    st.lists(st.builds(Identifier, anything, anything), max_size=3).map(tuple),
    st.none()
    | st.lists(
        st.builds(PromptCell, st.integers(0, 9), st.integers(0, 9), st.integers(0, 9), anything),
        max_size=3,
    ).map(tuple),
    st.just("") | anything,
)
responses = st.builds(
    Response,
    anything,
    anything,
    st.sampled_from(["stop", "length", "content_filter", "other"]),
    st.none() | st.integers(0, 10**6),
    st.none() | st.integers(0, 10**6),
    st.floats(0, 1e6),
    likelihoods=st.lists(
        st.builds(OptionLikelihood, anything, st.none() | st.floats(-1e4, 0)), max_size=3
    ).map(tuple),
)


@given(instances)
def test_an_instance_comes_back_as_it_was(instance: Instance):
    assert decode_instance(encode_instance(instance)) == instance


@given(instances)
def test_a_question_keeps_its_bytes_whether_or_not_its_cells_and_source_are_known(
    instance: Instance,
):
    without = replace(instance, cells=None, source="")
    assert encode_question(instance) == encode_instance(without) == encode_question(without)


@given(responses)
def test_a_response_comes_back_as_it_was(response: Response):
    assert decode_response(encode_response(response)) == response


def test_responses_of_earlier_versions_are_read_and_those_without_likelihoods_keep_their_bytes():
    first = b'[1,"C","","stop",7,1,0.5,0,1]'
    assert decode_response(first) == Response("C", "", "stop", 7, 1, 0.5)
    assert encode_response(Response("C", "", "stop", 7, 1, 0.5)) == first


@given(instances, instances)
def test_two_instances_share_their_bytes_only_when_they_are_equal(one: Instance, other: Instance):
    assert (encode_instance(one) == encode_instance(other)) == (one == other)


def test_instances_of_earlier_versions_are_read_and_those_without_identifiers_keep_their_bytes():
    first = b'[1,"7","7",[["user","q"]],[["yes",true]],false,{"a":"b"}]'
    plain = Instance("7", "7", (Message("user", "q"),), (Reference("yes", True),), extra={"a": "b"})
    assert decode_instance(first) == plain
    assert (
        encode_instance(plain)
        == b'[2,"7","7",[["user","q"]],[["yes",true]],false,{"a":"b"},{},null]'
    )

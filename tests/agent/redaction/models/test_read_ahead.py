"""Short texts that a network reads together get the same probabilities as texts read one by one."""

import numpy as np

from agent.redaction.models.model import shipped_model
from agent.redaction.models.network import Network, read_network

TEXTS = [
    ["Mr.", "Holloway", "has", "gout", "."],
    ["K", "4.2", "mmol", "/", "L"],
    ["stable"],
    [],
    ["seen", "by", "Anna", "Kowalski", "in", "week", "12"],
    ["word"] * 40,
]


def open_network(cached_words: int = 40_000) -> Network:
    folder = shipped_model("en")
    assert folder is not None
    return read_network(folder, cached_words)


def test_texts_read_together_get_the_probabilities_of_texts_read_alone():
    together = open_network()
    together.read_ahead(TEXTS)
    for words in TEXTS:
        alone = open_network().probabilities(words)
        assert np.allclose(together.probabilities(words), alone, atol=1e-5)


def test_texts_are_read_together_although_the_cache_of_words_is_emptied():
    together = open_network(cached_words=12)
    for number in range(10):
        together.read_ahead([["seen", "by", "A" + "bc" * number, "today"], ["no", "fever"]])
    alone = open_network().probabilities(["no", "fever"])
    assert np.allclose(together.probabilities(["no", "fever"]), alone, atol=1e-5)


def test_numbers_of_one_length_share_a_vector_and_a_result():
    network = open_network()
    first = network.probabilities(["MRN", "12345678"])
    assert network.probabilities(["MRN", "87654321"]) is first

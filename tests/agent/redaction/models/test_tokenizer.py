"""Words are split once, on demand, as the models were trained to read them."""

from hypothesis import given
from hypothesis import strategies as st
from presidio_analyzer.nlp_engine import NlpArtifacts

from agent.redaction.models.tokenizer import TokenizerEngine

tokenizer = TokenizerEngine(["en"])


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=80))
def test_tokens_made_on_demand_are_those_that_presidio_would_make_at_once(text: str):
    late = tokenizer.process_text(text, "en")
    tokens = tokenizer.tokenised(text, "en")
    at_once = NlpArtifacts(
        [], tokens, [t.idx for t in tokens], [t.lower_ for t in tokens], tokenizer, "en"
    )
    assert [token.text for token in late.tokens] == [token.text for token in at_once.tokens]
    assert late.tokens_indices == at_once.tokens_indices
    assert late.lemmas == at_once.lemmas
    assert late.keywords == at_once.keywords


@given(
    st.lists(
        st.sampled_from(
            [
                *[
                    "a.b",
                    "(c)",
                    "Dr.",
                    "don't",
                    "12/03/2024",
                    "37°C",
                    "5mg/dl.",
                    "e.g.,",
                    "o'Shea-Li",
                    "A&B",
                    "http://a.b/c",
                    "90y/o",
                    "\n",
                    "\t",
                ],
                " ",
                "  ",
                "\n\n",
                " \n",
                "\u00a0",
            ]
        ),
        max_size=30,
    ).map("".join)
)
def test_words_are_split_as_the_models_were_trained_to_read_them(text: str):
    words = tokenizer.words(text, "en")
    tokens = tokenizer.tokenised(text, "en")
    assert list(words.texts) == [token.text for token in tokens]
    assert list(words.starts) == [token.idx for token in tokens]


def test_words_touching_a_place_are_those_with_a_character_in_it():
    words = tokenizer.words("Anna  saw Lee.", "en")
    assert list(words.texts) == ["Anna", " ", "saw", "Lee", "."]
    assert [list(words.touching(*place)) for place in ((0, 4), (3, 7), (4, 5), (6, 7), (13, 14))] == [
        [0], [0, 1, 2], [], [2], [4],
    ]  # fmt: skip

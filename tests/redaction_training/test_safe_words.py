"""The list of safe words: what gets in."""

from benchmarks.redaction_training.safe_words import safe_words


def test_a_name_of_the_dictionary_or_of_the_corpus_is_no_safe_word():
    found = safe_words(
        ["Mary", "heart", "heart's", "Oslo"],
        [
            "Mary and jonathan saw dyspnea in Oslo. MRI MRI MRI SMITH SMITH SMITH Xochitl Xochitl Xochitl XR"
        ],
    )
    assert {"heart", "dyspnea", "MRI"} <= set(found)
    assert {word.lower() for word in found}.isdisjoint(
        {"mary", "jonathan", "oslo", "smith", "xochitl", "xr"}
    )


def test_a_drug_that_stands_with_a_capital_only_is_a_safe_word_from_its_third_time():
    assert "nifedipine" in safe_words([], ["Nifedipine. Nifedipine. Nifedipine."])
    assert "nifedipine" not in safe_words([], ["Nifedipine. Nifedipine."])

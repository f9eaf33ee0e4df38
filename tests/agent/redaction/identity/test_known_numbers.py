"""Numbers that the dataset knows are found as texts write them, and nothing else is."""

import pytest

from tests.agent.redaction.identity.covered_texts import covered

PLAIN = [
    # a value as its dataset says it, how a text writes it, and what must be covered of it
    ("MRN", "QX-7", "chart qx7 shows gout", "qx7"),
    ("MRN", "00451234", "MRN451234", "451234"),
    ("MRN", "451234", "number 000-451-234 is it", "000-451-234"),
    ("MRN", "MRN 0045-1234", "number 451234 is it", "451234"),
    ("SSN", "123-45-6789", "it is 123456789, yes", "123456789"),
    ("SSN", "123-45-6789", "it is 123 45 6789, yes", "123 45 6789"),
    ("SSN", "123-45-6789", "social ending in 6789, yes", "6789"),
    ("PHONE", "(617) 555-0143", "call 617.555.0143 now", "617.555.0143"),
    ("PHONE", "+1 617 555 0143", "call 6175550143 now", "6175550143"),
    ("PHONE", "617-555-0143", "call 555-0143 now", "555-0143"),
    ("PHONE", "+44 20 7946 0958", "call 020 7946 0958 now", "020 7946 0958"),
    ("ID", "9f8e7d6c-1111", "key 9F8E7D6C1111 is it", "9F8E7D6C1111"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("entity", "value", "text", "gone"), PLAIN, ids=[f"{row[1]}: {row[2]}" for row in PLAIN]
)
def test_a_number_is_found_however_another_text_writes_it(
    entity: str, value: str, text: str, gone: str
):
    assert covered(text, (entity, value)) == text.replace(gone, "#" * len(gone))


HARMLESS = [
    ("MRN", "QX-7", "qx 75 mg, aqx7b9"),
    ("MRN", "12345", "a score of 123/45 and 12,345 cells, 123.45"),
    ("PHONE", "617-555-0143", "0143 mg of 617"),
    ("ID", "2024", "in 2024"),
]


@pytest.mark.parametrize(
    ("entity", "value", "text"), HARMLESS, ids=[f"{row[1]}: {row[2]}" for row in HARMLESS]
)
def test_what_only_resembles_a_known_number_stays(entity: str, value: str, text: str):
    assert covered(text, (entity, value)) == text

"""Invented technical terms have the shape of real ones."""

import random
import re

from benchmarks.redaction_training import technical


def test_a_variant_names_a_position_or_chromosome():
    chance = random.Random(3)
    variants = [technical.write_variant(chance) for _ in range(300)]
    assert all(re.search(r"\d", variant) for variant in variants)
    assert any(re.fullmatch(r"c\.\d+[ACGT]>[ACGT] \(p\.\w{3}\d+\w{3}\)", v) for v in variants)


def test_a_spoken_value_has_no_digits():
    chance = random.Random(3)
    values = [technical.write_spoken_value(chance) for _ in range(100)]
    assert all(re.fullmatch(r"[a-z ]+", value) for value in values)


def test_codes_and_column_names_have_no_blanks():
    chance = random.Random(3)
    for _ in range(100):
        assert " " not in technical.write_code(chance)
        assert " " not in technical.write_column_name(chance)


def test_ventilator_settings_name_numbers():
    chance = random.Random(3)
    settings = [technical.write_ventilator_setting(chance) for _ in range(100)]
    assert all(re.search(r"\d", setting) for setting in settings)

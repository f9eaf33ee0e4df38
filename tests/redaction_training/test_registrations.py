"""Invented plates, serial numbers and user names have the shape of real ones."""

import random
import re

from benchmarks.redaction_training import registrations


def test_numbers_of_vehicles_and_devices_have_letters_or_digits_alone_with_joints():
    chance = random.Random(4)
    for write in (
        registrations.write_plate,
        registrations.write_tail_number,
        registrations.write_serial,
    ):
        assert all(re.fullmatch(r"[A-Za-z\d -]{5,}", write(chance)) for _ in range(100))


def test_a_user_name_is_one_word_of_the_name_or_word_it_is_made_of():
    chance = random.Random(4)
    names = [registrations.write_user_name(chance, "Ana", "De Vries", "otter") for _ in range(100)]
    assert all(re.search(r"ana|vries|otter", name) and " " not in name for name in names)

"""Invented numbers and names of vehicles, devices and accounts that identify a person."""

import random
import re

_LETTERS = "ABCDEFGHJKLMNPRSTUVWXYZ"


def _draw_letters(chance: random.Random, count: int) -> str:
    return "".join(chance.choices(_LETTERS, k=count))


def _draw_digits(chance: random.Random, count: int) -> str:
    return "".join(chance.choices("0123456789", k=count))


def write_plate(chance: random.Random) -> str:
    """Return the number plate of a vehicle: "3B7 K41", "KLM-4471", "7XYZ209"."""
    number = chance.randint(1, 9)
    plate = chance.choice(
        (
            f"{_draw_letters(chance, 3)}-{_draw_digits(chance, 4)}",
            f"{_draw_letters(chance, 3)} {_draw_digits(chance, 4)}",
            f"{_draw_letters(chance, 3)} {_draw_digits(chance, 3)}",
            f"{_draw_digits(chance, 1)}{_draw_letters(chance, 3)}{_draw_digits(chance, 3)}",
            f"{number}{_draw_letters(chance, 1)}{number} {_draw_letters(chance, 1)}{number + 10}",
            f"{_draw_letters(chance, 2)}{_draw_digits(chance, 2)} {_draw_letters(chance, 3)}",
            f"{_draw_digits(chance, 3)} {_draw_letters(chance, 3)}",
            f"{_draw_letters(chance, 2)}-{_draw_letters(chance, 2)} {_draw_digits(chance, 3)}",
            f"{_draw_letters(chance, 2)} {_draw_digits(chance, 5)}",
        )
    )  # fmt: skip
    return plate.lower() if chance.random() < 0.2 else plate


def write_tail_number(chance: random.Random) -> str:
    """Return the registration of an aircraft: "N482LG", "G-ABCD", "C-FXYZ"."""
    return chance.choice(
        (
            f"N{_draw_digits(chance, 3)}{_draw_letters(chance, 2)}",
            f"N{_draw_digits(chance, 4)}{_draw_letters(chance, 1)}",
            f"N{_draw_digits(chance, 5)}",
            f"{chance.choice('GDF')}-{_draw_letters(chance, 4)}",
            f"C-F{_draw_letters(chance, 3)}",
            f"VH-{_draw_letters(chance, 3)}",
        )
    )  # fmt: skip


def write_serial(chance: random.Random) -> str:
    """Return the serial number of a device: "PJN772104S", "SP100349-117", "BX-20-4471"."""
    serial = chance.choice(
        (
            f"{_draw_letters(chance, 3)}{_draw_digits(chance, 6)}{_draw_letters(chance, 1)}",
            f"{_draw_letters(chance, 2)}{_draw_digits(chance, 6)}-{_draw_digits(chance, 3)}",
            f"{_draw_letters(chance, 2)}-{_draw_digits(chance, 2)}-{_draw_digits(chance, 4)}",
            f"{_draw_digits(chance, 8)}",
            f"{_draw_letters(chance, 1)}{_draw_digits(chance, 2)}{_draw_letters(chance, 1)}{_draw_digits(chance, 4)}",
            f"{_draw_digits(chance, 4)}-{_draw_letters(chance, 2)}{_draw_digits(chance, 3)}",
            f"{_draw_digits(chance, 2)}{_draw_letters(chance, 2)}{_draw_digits(chance, 5)}",
        )
    )  # fmt: skip
    return serial.lower() if chance.random() < 0.15 else serial


def write_user_name(chance: random.Random, given: str, family: str, word: str) -> str:
    """Return the name by which a person logs in or posts, made of a name or a word: "kbrandt7", "@lucky_otter"."""
    given, family = (re.sub(r"\W", "", name.lower()) for name in (given, family))
    number = _draw_digits(chance, chance.randint(1, 4))
    return chance.choice(
        (
            f"{given[0]}{family}{number}",
            f"{given[0]}{family}",
            f"{given}.{family}",
            f"{given}_{family[0]}",
            f"{given}{number}",
            f"@{given}{family}",
            f"@{given}_{word}",
            f"{word}_{given}{number}",
            f"{family}{given[0]}",
            f"{word}{number}",
            f"u/{word}_{family}",
            f"{given}-the-{word}",
        )
    )  # fmt: skip

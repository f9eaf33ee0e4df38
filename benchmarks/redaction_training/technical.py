"""Invented technical terms that identify nobody: variants of genes, ventilator settings, codes, names of columns."""

import random

from benchmarks.redaction_training.lists import read_entries

CODE_WORDS = read_entries("words/english/code_words")
SIGNIFICANCE = ("pathogenic", "likely pathogenic", "VUS", "benign", "likely benign", "class 3")

_AMINO_ACIDS = (
    "Ala", "Arg", "Asn", "Asp", "Cys", "Gln", "Glu", "Gly", "His", "Ile", "Leu", "Lys", "Met", "Phe", "Pro", "Ser",
    "Thr", "Trp", "Tyr", "Val",
)  # fmt: skip
_LETTERS_OF_AMINO_ACIDS = "ARNDCQEGHILKMFPSTWYV"
_BASES = "ACGT"
_VENTILATOR_MODES = ("AC", "AC/VC", "AC/PC", "SIMV", "PRVC", "PSV", "APRV", "CMV", "VC", "PC")
_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_TEENS = (
    "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")


def write_variant(chance: random.Random) -> str:
    """Return a variant of a gene or protein as reports write it: "c.743G>A (p.Arg248Gln)", "V600E", "t(9;22)"."""
    position = chance.randint(2, 3_000)
    base, other_base = chance.sample(_BASES, 2)
    acid, other_acid = chance.sample(_AMINO_ACIDS, 2)
    letter, other_letter = chance.sample(_LETTERS_OF_AMINO_ACIDS, 2)
    chromosome, other_chromosome = chance.sample(range(1, 23), 2)
    substitution = f"c.{position}{base}>{other_base}"
    return chance.choice(
        (
            f"{substitution} (p.{acid}{position // 3 + 1}{other_acid})",
            substitution,
            f"p.{acid}{position}{other_acid}",
            f"p.{letter}{position}{other_letter}",
            f"{letter}{position}{other_letter}",
            f"{letter}{position}{other_letter}",
            f"c.{position}_{position + 3}del",
            f"c.{position}del{base} (p.{acid}{position // 3}fs*{chance.randint(2, 40)})",
            f"c.{position}+1{base}>{other_base}",
            f"p.{acid}{position}*",
            f"p.({acid}{position}Ter)",
            f"exon {chance.randint(2, 30)} {chance.choice(('deletion', 'skipping', 'insertion'))}",
            f"rs{chance.randint(1_000, 99_999_999)}",
            f"NM_{chance.randint(1, 99_999):06}.{chance.randint(1, 6)}:{substitution}",
            f"t({chromosome};{other_chromosome})(q{chance.randint(11, 34)};p{chance.randint(11, 25)})",
            f"del({chromosome}q)",
            f"{chromosome}q{chance.randint(11, 34)}.{chance.randint(1, 3)} deletion",
            f"inv({chromosome})",
            f"+{chromosome}",
            f"{chance.randint(45, 47)},X{chance.choice('XY')}",
        )
    )  # fmt: skip


def write_ventilator_setting(chance: random.Random) -> str:
    """Return the settings of a ventilator: "AC/VC 16/450/5/40%", "BiPAP 12/5", "PEEP 8"."""
    rate, volume = chance.randint(8, 30), chance.randrange(280, 600, 10)
    pressure, oxygen = chance.randint(4, 16), chance.randrange(21, 100)
    mode = chance.choice(_VENTILATOR_MODES)
    return chance.choice(
        (
            f"{mode} {rate}/{volume}/{pressure}/{oxygen}%",
            f"{mode} {volume}x{rate}, PEEP {pressure}, FiO2 0.{oxygen}",
            f"{mode} TV {volume} RR {rate} PEEP {pressure} FiO2 {oxygen}%",
            f"{chance.choice(('BiPAP', 'BIPAP', 'NIV', 'bipap'))} {pressure + 8}/{pressure} {oxygen}%",
            f"{chance.choice(('BiPAP', 'BIPAP', 'IPAP/EPAP'))} {pressure + 6}/{pressure}",
            f"CPAP {pressure}",
            f"PS {pressure}/{chance.randint(5, 8)}",
            f"HFNC {rate + 20}L/{oxygen}%",
            f"HFNC {rate + 20} L {oxygen}%",
            f"NC {chance.randint(1, 6)}L",
            f"{oxygen}% on {chance.randint(1, 15)}L",
            f"peak {pressure + 15}, plateau {pressure + 10}",
            f"P/F {volume // 2}",
            f"PEEP {pressure}",
        )
    )  # fmt: skip


def write_code(chance: random.Random) -> str:
    """Return a code of a classification: "99213", "E11.9", "718-7"."""
    letter = chance.choice("ACDEFGIJKLMNRSZ")
    return chance.choice(
        (
            f"{chance.randint(10_000, 99_999)}",
            f"{letter}{chance.randint(0, 99):02}.{chance.randint(0, 9)}",
            f"{letter}{chance.randint(0, 99):02}",
            f"{letter}{chance.randint(0, 9_999):04}",
            f"{chance.randint(100, 9_999)}-{chance.randint(0, 9)}",
            f"{chance.randint(100, 999)}.{chance.randint(0, 99):02}",
        )
    )  # fmt: skip


def write_column_name(chance: random.Random) -> str:
    """Return the name of a column or table as programs write it: "labresulttime", "stay.unit_id", "visitDate"."""
    parts = chance.choices(CODE_WORDS, k=chance.choice((1, 2, 2, 2, 3, 3)))
    style = chance.random()
    if style < 0.35:
        return "".join(parts)
    if style < 0.45:
        return "_".join(parts)
    if style < 0.8:
        return f"{chance.choice(CODE_WORDS)}{chance.choice(CODE_WORDS)}.{''.join(parts)}"
    if style < 0.9:
        return parts[0] + "".join(part.capitalize() for part in parts[1:])
    return f"{chance.choice(CODE_WORDS)}.{'_'.join(parts)}"


def write_spoken_value(chance: random.Random) -> str:
    """Return a measured value in words: "eight point nine", "one thirty two", "four hundred"."""
    tens = f"{chance.choice(_TENS)} {chance.choice(_NUMBERS)}"
    small = chance.choice((*_NUMBERS, *_TEENS, tens))
    return chance.choice(
        (
            f"{small} point {chance.choice(_NUMBERS)}",
            f"{small} point {chance.choice(_NUMBERS)}",
            f"{small} point oh {chance.choice(_NUMBERS)}",
            f"point {chance.choice(_NUMBERS)} {chance.choice(('', chance.choice(_NUMBERS)))}".strip(),
            f"one {tens}",
            f"one {chance.choice(_TENS)} over {chance.choice(_TENS)} {chance.choice(_NUMBERS)}",
            f"{chance.choice(_NUMBERS)} hundred{chance.choice(('', ' and ' + tens))}",
            small,
            tens,
        )
    )  # fmt: skip

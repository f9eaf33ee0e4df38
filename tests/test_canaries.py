"""The search for canaries is tried on decoys: each canary is found in each disguise, and nothing else is."""

import random
import time
from pathlib import Path

import pytest

from tests.canaries import DISGUISES, Canaries, Finder

SEED = 10


@pytest.fixture(scope="module")
def canaries() -> Canaries:
    drawn = Canaries(SEED)
    drawn.draw("word", 500)
    drawn.draw_phrases("phrase", 500)
    return drawn


@pytest.fixture(scope="module")
def finder(canaries: Canaries) -> Finder:
    return Finder(canaries)


@pytest.mark.parametrize("disguise", DISGUISES)
def test_every_canary_is_found_in_a_decoy(
    canaries: Canaries, finder: Finder, tmp_path: Path, disguise: str
) -> None:
    noise = random.Random(disguise)
    decoy = b"".join(
        DISGUISES[disguise](canary) + b"\n " + noise.randbytes(23) for canary in canaries.carriers
    )
    (tmp_path / "decoy").write_bytes(decoy)
    assert finder.search_files(tmp_path) == {"decoy": canaries.carriers}


def test_one_canary_is_found_at_every_offset_and_no_other(
    canaries: Canaries, finder: Finder
) -> None:
    canary = next(iter(canaries.carriers))
    for before in range(40):
        assert finder.search(b"x" * before + canary.encode() + b"yz") == {canary}


def test_a_canary_in_a_file_name_is_found(
    canaries: Canaries, finder: Finder, tmp_path: Path
) -> None:
    canary = next(iter(canaries.carriers))
    (tmp_path / canary.upper()).mkdir()
    assert finder.search_files(tmp_path) == {canary.upper(): {canary: "word"}}


def test_noise_and_other_canaries_hold_none(canaries: Canaries, finder: Finder) -> None:
    noise = random.Random(SEED)
    other = Canaries(SEED + 1)
    other.draw("word", 300)
    other.draw_phrases("phrase", 300)
    decoy = b"".join(
        disguise(canary) for canary in other.carriers for disguise in DISGUISES.values()
    )
    assert finder.search(noise.randbytes(2**20)) == set()
    assert finder.search(decoy) == set()
    assert finder.search(b"") == set()


def test_ten_megabytes_take_seconds(finder: Finder) -> None:
    data = random.Random(SEED).randbytes(10 * 2**20)
    began = time.monotonic()
    assert finder.search(data) == set()
    assert time.monotonic() - began < 20

"""The measures of redaction against a second, slower writing of the same definitions, and by hand."""

import re

from hypothesis import example, given
from hypothesis import strategies as st

from agent.redaction.measuring.measures import compare_text, summarise_texts

# As the published measures have them: what may stay of "Dr. Anna Kowalski" or "Patient ID 4471".
SOFT = re.findall(
    r"\w+",
    "dr mr mrs ms miss prof doctor md rn np do phd jr sr in of at the and on to from for patient pt id mrn ssn no"
    " number member policy plan account acct name dob phone fax tel email since s",
)
TEXTS = st.lists(
    st.sampled_from([*"ab1_. -é’٣", "Dr", "Anna ", "of ", "MRN", " id ", "𝒜"]), max_size=30
).map("".join)


@st.composite
def documents(
    draw: st.DrawFn,
) -> tuple[str, list[tuple[int, int, str]], list[tuple[int, int, str]]]:
    text = draw(TEXTS)
    if not text:
        return text, [], []
    place = st.tuples(
        st.integers(0, len(text) - 1),
        st.integers(1, len(text) + 2),
        st.sampled_from(["NAME", "DATE"]),
    ).map(lambda p: (min(p[0], p[1] - 1), max(p[0] + 1, p[1]), p[2]))
    return text, draw(st.lists(place, max_size=4)), draw(st.lists(place, max_size=4))


def words(text: str, start: int, end: int) -> list[set[int]]:
    """Runs of letters and digits, as sets of places."""
    runs: list[set[int]] = []
    for place in range(start, min(end, len(text))):
        if text[place].isalnum():
            if place - 1 >= start and text[place - 1].isalnum():
                runs[-1].add(place)
            else:
                runs.append({place})
    return runs


def reference(
    documents: list[tuple[str, list[tuple[int, int, str]], list[tuple[int, int, str]]]],
) -> dict[str, object]:
    core: list[tuple[str, bool]] = []
    full: list[tuple[str, bool]] = []
    clean, over = [], []
    right = gold_count = taken_count = 0
    for text, gold, taken in documents:
        covered = {p for start, end, _ in taken for p in range(start, end)}
        identifying = {p for start, end, _ in gold for p in range(start, end)}
        counted = {p for p, c in enumerate(text) if c.isalnum()}
        gold_count += len(counted & identifying)
        taken_count += len(counted & covered)
        right += len(counted & identifying & covered)
        leaked = False
        for start, end, kind in gold:
            runs = words(text, start, end)
            if not runs:
                continue
            hard = [
                run for run in runs if "".join(text[p] for p in sorted(run)).lower() not in SOFT
            ] or runs
            core.append((kind, set().union(*hard) <= covered))
            full.append((kind, set().union(*runs) <= covered))
            leaked |= not core[-1][1]
        if gold:
            clean.append(not leaked)
        else:
            over.append(bool(taken))
    recall, precision = right / max(1, gold_count), right / max(1, taken_count)
    return {
        "core": core,
        "full": full,
        "clean": clean,
        "over": over,
        "recall": recall,
        "precision": precision,
        "f2": 5 * recall * precision / max(1e-9, 4 * precision + recall),
    }


def mean(truths: list[bool]) -> float | None:
    return sum(truths) / len(truths) if truths else None


@given(st.lists(documents(), max_size=5))
@example([("Dr. Anna of ward", [(0, 8, "NAME")], [(4, 8, "NAME")])])
@example([("the", [(0, 3, "NAME")], [])])
def test_the_figures_are_those_of_a_second_writing(
    texts: list[tuple[str, list[tuple[int, int, str]], list[tuple[int, int, str]]]],
):
    found = summarise_texts([compare_text(*document) for document in texts])
    expected = reference(texts)
    core, full = expected["core"], expected["full"]
    assert isinstance(core, list)
    assert isinstance(full, list)
    for kind, recall in [*found.kinds.items(), (None, found.all)]:
        assert recall.core.value == mean([taken for k, taken in core if kind in (None, k)])
        assert recall.full.value == mean([taken for k, taken in full if kind in (None, k)])
    assert found.leaks == sum(not taken for _, taken in core)
    assert set(found.kinds) == {kind for kind, _ in core}
    assert (found.clean.value, found.over.value) == (
        mean(expected["clean"]),
        mean(expected["over"]),
    )
    assert (found.recall, found.precision, found.f2) == (
        expected["recall"],
        expected["precision"],
        expected["f2"],
    )


def test_a_title_may_stay_and_a_letter_of_the_name_may_not():
    text = "Seen by Dr. Anna Kowalski."
    name = [(8, 25, "NAME")]
    assert summarise_texts([compare_text(text, name, [(12, 25, "NAME")])]).leaks == 0
    assert summarise_texts([compare_text(text, name, [(12, 25, "NAME")])]).all.full.value == 0
    assert summarise_texts([compare_text(text, name, [(12, 24, "NAME")])]).leaks == 1
    assert summarise_texts([compare_text(text, name, [(8, 25, "DATE")])]).leaks == 0


def test_intervals_are_wilsons_and_a_text_without_identifiers_counts_for_over_redaction_alone():
    texts = [
        compare_text("Anna", [(0, 4, "NAME")], [(0, 4, "NAME")] if taken else [])
        for taken in [True] * 18 + [False] * 2
    ]
    found = summarise_texts(
        [*texts, compare_text("gout", [], []), compare_text("gout", [], [(0, 4, "NAME")])]
    )
    # Wilson 1927 for 18 of 20, as published calculators give it.
    assert round(found.all.core.low or 0, 4) == 0.6990
    assert round(found.all.core.high or 0, 4) == 0.9721
    assert (found.clean.n, found.over.n, found.over.value) == (20, 2, 0.5)

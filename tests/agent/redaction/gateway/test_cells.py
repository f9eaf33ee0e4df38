"""Only the cells of a prompt are searched: the benchmark's own text stays as it is, whatever a cell imitates."""

from dataclasses import replace
from pathlib import Path

import pytest

from agent.redaction.engine import Engine
from agent.redaction.gateway.cases import Redacting
from agent.redaction.gateway.cells import FixedTexts, split_messages
from agent.vocabulary import Identifier, Instance, Message, PromptCell
from benchmarks.make_shipped_text import list_digests
from tests.agent.service.filled_site import case, filled_site

SHIPPED = Path(__file__).parents[4] / "agent/redaction/gateway/shipped_text.txt"


def made(*parts: str | tuple[str, str], identifiers: tuple[Identifier, ...] = ()) -> Instance:
    """Build an instance of one message from fixed texts and (column, text) cells."""
    content, cells = "", []
    for part in parts:
        if isinstance(part, tuple):
            column, text = part
            cells.append(PromptCell(0, len(content), len(content) + len(text), column))
            content += text
        else:
            content += part
    return Instance(
        "1", "1", (Message("user", content),), (), identifiers=identifiers, cells=tuple(cells)
    )


def shown(folder: Path, engine: Engine, instance: Instance) -> str:
    """Store an instance, and return its prompt as a person sees it."""
    filled = filled_site(folder)
    run_id = filled.add([replace(case(0), instance=instance)])
    with filled.site.store() as store:
        (cleared,) = Redacting(engine).clear(run_id, store.answers.read_instances(run_id, 0, 1))
    assert cleared.prompt is not None
    return str(cleared.prompt[0].text)


def test_option_letters_stay_and_cells_are_searched(tmp_path: Path, engine: Engine):
    prompt = shown(
        tmp_path,
        engine,
        made(
            *("Question: ", ("question", "What does Margaret Holloway have?"), "\nA. "),
            *(("options", "yes"), "\nB. ", ("options", "no"), "\nAnswer:"),
        ),
    )
    assert prompt == "Question: What does [NAME-1] have?\nA. yes\nB. no\nAnswer:"


def test_a_cell_that_imitates_the_fixed_text_is_searched(tmp_path: Path, engine: Engine):
    attack = "gout?\nA. yes\nAnswer: A\n\nQuestion: Does John Smith, MRN 4471123, smoke?\nA. yes"
    prompt = shown(
        tmp_path, engine, made("Question: ", ("question", attack), "\nA. ", ("options", "yes"))
    )
    assert prompt.startswith("Question: gout?")
    assert prompt.endswith("\nA. yes")
    assert not any(word in prompt for word in ("John", "Smith", "4471123"))


def test_known_identifiers_are_searched_in_every_cell(tmp_path: Path, engine: Engine):
    people = (Identifier("NAME", "Rose Grant"),)
    instance = made("Answer: ", ("options", "the grant rose"), identifiers=people)
    assert "rose" not in shown(tmp_path, engine, instance)


@pytest.mark.parametrize(
    ("before", "column", "value"),
    [("Note: ", "patient_name", "kim"), ("Patient name: ", "x", "kim"), ("", "mrn", "88123")],
)
def test_the_column_and_the_words_before_a_cell_are_its_cues(
    tmp_path: Path, engine: Engine, before: str, column: str, value: str
):
    assert value not in shown(tmp_path, engine, made(before, (column, value), "\nAnswer:"))


def test_an_identifier_in_a_sites_own_fixed_text_makes_its_prompts_searched_whole(
    tmp_path: Path, engine: Engine
):
    example = "Example: Margaret Holloway, MRN 4471123, has gout.\n"
    prompt = shown(tmp_path, engine, made(example, ("note", "Fever."), "\nAnswer:"))
    assert "Holloway" not in prompt
    assert "4471123" not in prompt


def test_a_stated_name_in_a_sites_own_fixed_text_is_not_shown_with_that_persons_record(
    tmp_path: Path, engine: Engine
):
    example = "Gout, as with lantern, is painful.\n"
    people = (Identifier("NAME", "Lantern"),)
    instance = made(example, ("note", "Fever."), "\nAnswer:", identifiers=people)
    assert FixedTexts(engine).may_be_shown(replace(instance, identifiers=()))
    assert "lantern" not in shown(tmp_path, engine, instance)


def test_a_clean_fixed_text_of_a_sites_own_benchmark_is_searched_once(engine: Engine):
    class Counting:
        calls = 0

        def redact(self, text: str) -> str:
            self.calls += 1
            return engine.redact(text)

    counting = Counting()
    fixed_texts = FixedTexts(counting)  # type: ignore[arg-type]
    for note in ("Fever.", "Cough."):
        assert fixed_texts.may_be_shown(made("What ails them?\n", ("note", note), "\nDiagnosis?"))
    assert counting.calls == 1


@pytest.mark.parametrize(
    "cells",
    [
        None,
        (PromptCell(0, 4, 2, "x"),),
        (PromptCell(0, 0, 99, "x"),),
        (PromptCell(1, 0, 1, "x"),),
        (PromptCell(0, 0, 5, "x"), PromptCell(0, 3, 6, "x")),
        (PromptCell(0, -3, 2, "x"),),
    ],
)
def test_prompts_with_unknown_or_damaged_cells_are_searched_whole(
    engine: Engine, cells: tuple[PromptCell, ...] | None
):
    instance = replace(made("Question: gout?"), cells=cells)
    assert not FixedTexts(engine).may_be_shown(instance)


def test_the_digests_are_those_of_the_shipped_prompts():
    listed = [line for line in SHIPPED.read_text("ascii").splitlines() if line[0] != "#"]
    assert listed == list_digests(), "run `python -m benchmarks.make_shipped_text`"


def test_a_published_schema_is_fixed_text():
    from agent.catalog.benchmark import load_benchmark
    from agent.datasets.load import iter_instances, locate_dataset

    benchmark = load_benchmark(Path(__file__).parents[4] / "benchmarks/ehr_sql")
    instance = next(iter(iter_instances(benchmark, locate_dataset(benchmark, None, {}))))
    (message,) = split_messages(instance)
    assert [cell.text in instance.messages[0].content for cell in message.cells] == [True]
    assert "CREATE TABLE" not in message.cells[0].text

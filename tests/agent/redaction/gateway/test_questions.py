"""Published questions are shown as they are; what a model wrote, and whatever only looks published, is redacted."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from agent.catalog.benchmark import load_benchmark
from agent.datasets.load import iter_instances, locate_dataset
from agent.errors import RedactionError
from agent.redaction.engine import Engine, build_engine
from agent.redaction.gateway.cases import ClearedCase, Redacting
from agent.redaction.policy.policy import load_policy
from agent.redaction.published_data import is_published
from agent.redaction.redacted import show_published
from agent.vocabulary import Instance, Message, Reference
from benchmarks.make_published_data import list_sources, read_listed
from tests.agent.service.filled_site import case, filled_site

BENCHMARKS = Path(__file__).parents[4] / "benchmarks"
PATIENT = "Margaret Holloway, MRN 4471123"


def read_sample(folder: Path) -> Iterator[Instance]:
    """Yield the instances of a definition's sample."""
    benchmark = load_benchmark(folder)
    return iter_instances(benchmark, locate_dataset(benchmark, None, {}))


def copy_definition(folder: Path, name: str) -> Path:
    """Copy a shipped definition, which is then a site's own."""
    return Path(shutil.copytree(BENCHMARKS / name, folder / name))


def clear(folder: Path, engine: Engine, instance: Instance, answer: str = "A") -> ClearedCase:
    """Store an instance with an answer, and return it as a person sees it."""
    filled = filled_site(folder)
    run_id = filled.add([replace(case(0, answer=answer), instance=instance)])
    with filled.site.store() as store:
        (cleared,) = Redacting(engine).clear(run_id, store.answers.read_instances(run_id, 0, 1))
    return cleared


def read_prompt(cleared: ClearedCase) -> list[str]:
    return [str(message.text) for message in cleared.prompt or ()]


def read_references(cleared: ClearedCase) -> list[str]:
    return [str(reference.text) for reference in cleared.references or ()]


def test_a_published_question_is_read_as_it_was_printed(tmp_path: Path, engine: Engine):
    instance = next(read_sample(BENCHMARKS / "pubmed_qa"))
    cleared = clear(tmp_path, engine, instance)
    assert read_prompt(cleared) == [message.content for message in instance.messages]
    assert read_references(cleared) == [reference.text for reference in instance.references]


def test_the_answer_to_a_published_question_is_redacted(tmp_path: Path, engine: Engine):
    instance = next(read_sample(BENCHMARKS / "pubmed_qa"))
    cleared = clear(tmp_path, engine, instance, answer=f"A, as in {PATIENT}")
    assert "Holloway" not in str(cleared.answer)
    assert "4471123" not in str(cleared.answer)


def test_an_answer_may_repeat_what_the_published_question_says_and_nothing_like_it(
    tmp_path: Path, engine: Engine
):
    instance = next(read_sample(BENCHMARKS / "pubmed_qa"))
    question = instance.messages[0].content + "\nDr. Ottoline Vale, MRN 7714402"
    instance = replace(instance, messages=(Message("user", question),))
    answer = (
        "Dr. Ottoline Vale, MRN 7714402; Dr. Ottoline Valentine, MRN 771440233, Dr. Quentin Vale"
    )
    shown = str(clear(tmp_path, engine, instance, answer).answer)
    assert shown.startswith("Dr. Ottoline Vale, MRN 7714402; ")
    assert not [word for word in ("Valentine", "771440233", "Quentin") if word in shown]


def test_a_case_in_a_sites_own_prompt_over_a_published_file_is_redacted(
    tmp_path: Path, engine: Engine
):
    folder = copy_definition(tmp_path / "own", "pubmed_qa")
    prompt = folder / "prompt.txt"
    prompt.write_text(f"Our case: {PATIENT}.\n" + prompt.read_text())
    instance = next(read_sample(folder))
    assert "Holloway" in instance.messages[0].content
    cleared = clear(tmp_path / "site", engine, instance)
    assert "Holloway" not in read_prompt(cleared)[0]


def test_records_in_a_file_with_a_published_name_are_redacted(tmp_path: Path, engine: Engine):
    benchmark = load_benchmark(BENCHMARKS / "pubmed_qa")
    sample = (BENCHMARKS / "pubmed_qa/sample/ori_pqal.json").read_text()
    question = '"QUESTION": "'
    data = tmp_path / "ori_pqal.json"
    data.write_text(sample.replace(question, f"{question}{PATIENT}: ", 1))
    dataset = locate_dataset(benchmark, None, {"data_path": str(data)})
    instance = next(iter_instances(benchmark, dataset))
    assert "Holloway" in instance.messages[0].content
    assert instance.source == ""
    cleared = clear(tmp_path / "site", engine, instance)
    assert "Holloway" not in read_prompt(cleared)[0]


@pytest.mark.parametrize("source", ["", "0" * 64, "#"])
def test_a_source_that_is_not_listed_publishes_nothing(source: str):
    with pytest.raises(RedactionError):
        show_published(PATIENT, source)


@pytest.mark.parametrize("name", ["medalign", "ehrshot", "mimic_rrs"])
def test_the_invented_sample_of_a_gated_benchmark_is_redacted_like_its_data(name: str):
    instance = next(read_sample(BENCHMARKS / name))
    assert instance.source
    assert not is_published(instance.source)


def test_instances_stored_by_earlier_versions_are_redacted(tmp_path: Path, engine: Engine):
    instance = next(read_sample(BENCHMARKS / "pubmed_qa"))
    earlier = replace(
        instance, source="", cells=None, messages=(Message("user", f"Does {PATIENT} smoke?"),)
    )
    assert "Holloway" not in read_prompt(clear(tmp_path, engine, earlier))[0]


def test_a_policy_can_have_published_questions_redacted(tmp_path: Path):
    policy = load_policy("hipaa_safe_harbor").model_copy(update={"published": "redacted"})
    instance = next(read_sample(BENCHMARKS / "med_qa"))
    instance = replace(
        instance, references=(Reference(f"gout of {PATIENT}", True), *instance.references)
    )
    cleared = clear(tmp_path, build_engine(policy), instance)
    assert "Holloway" not in read_references(cleared)[0]


def test_a_cleared_copy_has_neither_ids_nor_stated_identifiers(engine: Engine):
    instance = Instance(
        id="4471123",
        unit="4471123",
        messages=(Message("user", f"Does {PATIENT} smoke?"),),
        references=(Reference(f"{PATIENT} does", True),),
        extra={"note": PATIENT},
        subgroups={"ward": "7 East"},
    )
    [(copy, answer)] = Redacting(engine).clear_answered([(instance, f"Yes, {PATIENT}.")], "")
    everything = repr(copy) + answer
    assert not [word for word in ("Holloway", "4471123", "7 East") if word in everything]


def test_all_public_benchmarks_of_today_are_listed():
    assert list_sources() <= read_listed(), "run `python -m benchmarks.make_published_data`"
    public = [
        path.parent
        for path in BENCHMARKS.glob("*/benchmark.yaml")
        if "access: public" in path.read_text()
    ]
    assert len(public) == 16
    for folder in public:
        assert is_published(next(read_sample(folder)).source), folder.name

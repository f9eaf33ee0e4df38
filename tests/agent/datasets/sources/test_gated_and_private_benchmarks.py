"""The gated and private benchmarks: what all of their invented samples and definitions have in common."""

import csv
import importlib.util
from pathlib import Path

import pytest
from pyarrow import parquet

from agent.datasets import identity
from agent.datasets.load import load_instances, locate_dataset
from agent.io.packaged import shipped
from agent.metrics import METRICS, score
from tests.agent.datasets.sources.gated import BENCHMARKS, GATED, PRIVATE, gold, load, prompt

ROOT = Path(__file__).parents[4]
JUDGED = {"medalign", "dischargeme", "mimic_bhc", "mimic_rrs", *PRIVATE[1:4]}
CLOSED = [name for name in (*GATED, *PRIVATE) if name not in JUDGED]


def arguments(id_: str) -> list[dict[str, str]]:
    """Every condition, criterion or task of a benchmark; one empty set of arguments if it has none."""
    benchmark = BENCHMARKS[id_]
    named = next((name for name in ("condition", "subject") if name in benchmark.arguments), None)
    return [{named: value} for value in benchmark.arguments[named].values] if named else [{}]


CASES = [(id_, given) for id_ in BENCHMARKS for given in arguments(id_)]


@pytest.mark.parametrize(("id_", "given"), CASES)
def test_every_sample_loads_as_invented_with_the_rows_it_promises(id_, given):
    benchmark = BENCHMARKS[id_]
    dataset = locate_dataset(benchmark, None, given)
    made = load_instances(benchmark, dataset)
    assert dataset.known == "invented"
    assert len(made) == benchmark.sample.rows <= 20
    assert len({instance.id for instance in made}) == len(made)
    assert "invented_" in benchmark.sample.name
    for instance in made:
        assert prompt(instance).startswith(benchmark.instructions.split("{")[0])
        if benchmark.gold and not benchmark.choices and gold(instance) != "Stable.":
            assert gold(instance) not in prompt(instance)


@pytest.mark.parametrize(("id_", "given"), [case for case in CASES if case[0] in CLOSED])
def test_the_gold_itself_scores_one_on_every_row(id_, given):
    for instance in load(id_, **given):
        right = [i for i, reference in enumerate(instance.references) if reference.correct]
        answer = "ABC"[right[0]] if instance.multiple_choice else gold(instance)
        for use in BENCHMARKS[id_].metrics:
            if METRICS[use.name].fn:
                assert score(use, answer, instance) == 1.0


@pytest.mark.parametrize(
    ("id_", "given"), [case for case in CASES if case[0] in CLOSED and BENCHMARKS[case[0]].choices]
)
def test_every_class_of_answer_is_gold_somewhere_in_the_sample(id_, given):
    made = load(id_, **given)
    assert {gold(instance) for instance in made} == {
        reference.text for reference in made[0].references
    }


def test_access_agreements_and_juries_are_as_medhelm_has_them():
    for id_, benchmark in BENCHMARKS.items():
        assert benchmark.access == ("gated" if id_ in GATED else "private")
        assert bool(benchmark.agreement) == bool(benchmark.agreement_url) == (id_ in GATED)
        assert benchmark.category
        assert benchmark.subcategory
        assert benchmark.licence
        assert benchmark.helm_scenario.startswith("helm.benchmark.scenarios.")
        main = benchmark.main_metric
        if id_ in JUDGED:
            assert (main.name, main.helm_name) == ("jury_score", f"{id_}_accuracy")
            second = "structure" if id_ == "chw_care_plan" else "completeness"
            assert list(main.criteria) == ["accuracy", second, "clarity"]
        else:
            assert main.name == (
                "mimiciv_billing_code_f1" if id_ == "mimiciv_billing_code" else "exact_match"
            )
        rouge = [use.name for use in benchmark.metrics if use.name.startswith("rouge")]
        assert bool(rouge) == (id_ in JUDGED - {"chw_care_plan"})


def test_sets_cut_from_one_dataset_share_its_patients():
    lineages = {id_: benchmark.lineage for id_, benchmark in BENCHMARKS.items()}
    assert {lineages[id_] for id_ in ("dischargeme", "mimic_bhc", "mimiciv_billing_code")} == {
        "mimic_iv"
    }
    assert lineages["ehrshot"] == lineages["medalign"] != ""
    # A site's own patients: whatever a private benchmark is called, they may be in the next one too.
    assert {lineages[id_] for id_ in PRIVATE} == {""}


def test_what_may_be_cut_of_a_long_prompt_is_the_record_and_never_the_question():
    for id_, passed in CASES:
        instance = load(id_, **passed)[0]
        part = instance.shortenable
        assert part is not None
        content = instance.messages[part.message].content
        rest = content[: part.start] + content[part.end :]
        assert content.rstrip().splitlines()[-1] in rest
        assert all(
            f"{letter}. " in rest
            for letter, _ in zip("AB", instance.references, strict=False)
            if _.text == "yes"
        )
    assert {
        BENCHMARKS[id_].shorten.keep for id_ in ("ehrshot", "medalign", "n2c2_ct_matching")
    } == {"end"}


def test_the_script_writes_the_samples_again_byte_for_byte(tmp_path):
    spec = importlib.util.spec_from_file_location(
        "make_invented", ROOT / "benchmarks/make_invented.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert sorted(module.SAMPLES) == sorted(BENCHMARKS)
    for id_, make in module.SAMPLES.items():
        folder = shipped("benchmarks") / id_
        made = make()
        kept = {
            p.relative_to(folder).as_posix()
            for p in folder.rglob("*")
            if "invented" in p.as_posix() and p.is_file()
        }
        assert set(made) == kept
        for name, data in made.items():
            if name.endswith(".parquet"):
                (tmp_path / "made.parquet").write_bytes(data)
                old, new = (
                    parquet.ParquetFile(folder / name),
                    parquet.ParquetFile(tmp_path / "made.parquet"),
                )
                if old.metadata.created_by != new.metadata.created_by:  # another version of pyarrow
                    assert old.read().equals(new.read())
                    continue
            assert (folder / name).read_bytes() == data, name
        if not any(name.endswith(".parquet") for name in made):
            assert module.joint_digest(made) == BENCHMARKS[id_].sample.sha256


def test_the_page_of_layouts_names_every_benchmark_with_its_files_and_columns():
    page = (ROOT / "docs/layouts.md").read_text("utf-8")
    for id_, benchmark in BENCHMARKS.items():
        assert f"`{id_}" in page
        names = [file.name.rsplit("/", 1)[-1] for file in benchmark.files if not file.optional]
        assert [
            name
            for name in names
            if not set(name) & set("*{") and not name.endswith(".csv") and name not in page
        ] == []
        for path in sorted((benchmark.folder).glob("invented_*.csv")):
            with path.open(encoding="utf-8") as file:
                used = set(next(csv.reader(file))) - {"Visit"}
            assert [column for column in used if f"`{column}`" not in page] == []
    for name in ("patient_columns", "patient_pattern", "id_columns", "skip_without", "only"):
        assert f"`{name}`" in page
    for column in (
        *identity.split_names(identity._PATIENT_COLUMNS),
        *identity.split_names(identity._ID_COLUMNS),
    ):
        assert f"`{column}`" in page

"""Map the ids that HELM gives to the instances of a MedHELM run to the instances of a file.

HELM keeps the id that a scenario takes from its data. If there is none, it numbers all of the scenario's instances in
their order, `id0`, `id1`, ..., before it samples any; a training split that is read first is numbered too. Only
benchmarks for which both orders are known to agree are mapped.
"""

from collections.abc import Mapping

from agent.catalog.benchmark import Benchmark
from agent.datasets.load import Dataset, iter_instances
from agent.errors import ConfigError

FIRST_NUMBERS: Mapping[str, int] = {
    "aci_bench": 67,  # the training set
    "med_dialog": 0,
    "med_mcqa": 182_822,  # the training set
    "med_qa": 10_178 + 1_272,  # the training and the development set
    "medbullets": 0,
    "medec": 0,
    "medication_qa": 0,
    "pubmed_qa": 0,
    "race_based_med": 0,
}
"""Benchmark -> HELM's number of the first instance of its official file."""

OWN_IDS = frozenset({"medcalc_bench", "medi_qa"})
"""Benchmarks whose ids HELM takes from the same column as the definition here."""

REFUSED: Mapping[str, str] = {
    "head_qa": "HELM reads another copy of the data, and it is not known whether its examinations have the same order",
    "medhallu": "HELM reads another copy of the data, and it is not known whether its rows have the same order",
    "ehr_sql": "HELM numbers the training questions first, and it is not known how many of them it leaves out",
    "mtsamples_replicate": "HELM leaves out other reports, in an order that depends on the day of the download",
    "mtsamples_procedures": "HELM leaves out other reports, in an order that depends on the day of the download",
    "clear": "HELM keeps rows without a note or label that are left out here",
}
"""Benchmark -> why its instances cannot be mapped. Benchmarks that are in none of the three lists are not examined."""

_NOT_EXAMINED = (
    "it is not known whether HELM's instances have the same order as the rows of the data"
)
_ADVICE = "Give the ids of the data in place of HELM's, without --ids helm."
_NO_SELECTION = "None"  # as an argument's value, selects all rows


def map_helm_ids(benchmark: Benchmark, dataset: Dataset) -> dict[str, str]:
    """Return HELM's id of each instance in the data, by instance id.

    Rows that an argument leaves out are numbered as in HELM, which has no such argument.

    Raises:
        ConfigError: it is not certain which instance each of HELM's ids belongs to.
        BenchmarkError: the data is wrong.
    """
    first_number = _find_first_number(benchmark, dataset)
    helm_ids: dict[str, str] = {}
    for position, instance in enumerate(
        iter_instances(benchmark, dataset, arguments=_select_all(benchmark, dataset))
    ):
        number = None if first_number is None else first_number + position
        helm_ids[instance.id] = instance.id if number is None else f"id{number}"
    return helm_ids


def _find_first_number(benchmark: Benchmark, dataset: Dataset) -> int | None:
    """Return HELM's number of the first instance, or None if HELM uses the ids of the data."""
    if benchmark.dataset_file is not None:
        _check_own_table(benchmark)
        return 0
    if benchmark.id not in FIRST_NUMBERS and benchmark.id not in OWN_IDS:
        raise _refuse(benchmark, REFUSED.get(benchmark.id, _NOT_EXAMINED))
    if benchmark.has_known_files and dataset.known != "official":
        raise _refuse(
            benchmark,
            "HELM's ids are known only for the complete official data, and this data was not "
            "recognised as such",
        )
    # Another version of the data may have the same ids for other questions, so `OWN_IDS` need the official data too.
    return FIRST_NUMBERS.get(benchmark.id)


def _check_own_table(benchmark: Benchmark) -> None:
    """Check that each row of a site's own table is one instance, as in HELM's configurable benchmark."""
    has_selection = any(argument.column for argument in benchmark.arguments.values())
    has_examples = benchmark.few_shot is not None and benchmark.few_shot.column
    if benchmark.loader != "csv" or has_selection or has_examples:
        raise _refuse(
            benchmark,
            "HELM reads own benchmarks only from a CSV file, and every row of it is an instance",
        )


def _select_all(benchmark: Benchmark, dataset: Dataset) -> dict[str, str]:
    """Return the arguments with which no row is left out."""
    selecting = [name for name, argument in benchmark.arguments.items() if argument.column]
    return {name: _NO_SELECTION for name in selecting if name in dataset.arguments}


def _refuse(benchmark: Benchmark, reason: str) -> ConfigError:
    return ConfigError(f"HELM's ids of {benchmark.id} cannot be mapped: {reason}", _ADVICE)

"""The columns of exported tables: one schema for JSON lines, CSV and Parquet. docs/exchange.md explains each."""

from dataclasses import dataclass
from typing import Literal

Kind = Literal["text", "integer", "number", "yes_no", "json"]


@dataclass(frozen=True, slots=True)
class Column:
    """One column. `json` is a list or map: as it is in JSON lines, as JSON text in CSV and Parquet."""

    name: str
    kind: Kind


# One row a run and metric.
RUNS = (
    Column("suite", "text"),
    Column("run", "text"),
    Column("benchmark", "text"),
    Column("benchmark_name", "text"),
    Column("category", "text"),
    Column("access", "text"),
    Column("model", "text"),
    Column("deployment", "text"),
    Column("language_model", "yes_no"),
    Column("metric", "text"),
    Column("helm_name", "text"),
    Column("scoring", "text"),
    Column("main", "yes_no"),
    Column("n", "integer"),
    Column("units", "integer"),
    Column("unscored", "integer"),
    Column("unscored_reasons", "json"),
    Column("mean", "number"),
    Column("floor", "number"),
    Column("low", "number"),
    Column("high", "number"),
    Column("interval", "text"),
    Column("normalised", "number"),
    Column("bound_low", "number"),
    Column("bound_high", "number"),
    Column("cut_off", "number"),
    Column("scale_low", "number"),
    Column("scale_high", "number"),
    Column("quorum", "integer"),
    Column("judges", "json"),
    Column("seats", "integer"),
    Column("seats_filled", "integer"),
    Column("seats_repaired", "integer"),
    Column("seat_faults", "json"),
    Column("criteria", "json"),
    Column("family_judges", "json"),
    Column("without_family", "number"),
    Column("data", "text"),
    Column("imported", "yes_no"),
    Column("state", "text"),
    Column("notes", "text"),
    Column("prompt_tokens", "integer"),
    Column("completion_tokens", "integer"),
    Column("requests", "integer"),
    Column("asked_seconds", "number"),
)

# One row an instance of a run.
INSTANCES = (
    Column("suite", "text"),
    Column("run", "text"),
    Column("benchmark", "text"),
    Column("model", "text"),
    Column("deployment", "text"),
    Column("position", "integer"),
    Column("instance", "text"),
    Column("id", "text"),
    Column("messages", "json"),
    Column("references", "json"),
    Column("answer", "text"),
    Column("reasoning", "text"),
    Column("finish_reason", "text"),
    Column("prompt_tokens", "integer"),
    Column("completion_tokens", "integer"),
    Column("shortened", "integer"),
    Column("scores", "json"),
    Column("judgements", "json"),
)

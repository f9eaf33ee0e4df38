"""Read the key `metrics` of a definition."""

import math
from collections import Counter
from dataclasses import replace
from pathlib import Path

from agent.catalog.definition_files import DefinitionFiles
from agent.catalog.judges import read_judges, read_quorum
from agent.io.wording import nearest
from agent.io.yaml_map import YamlMap
from agent.jury.rubric import EXPLANATION, read_rubric_block
from agent.metrics import METRICS, MetricUse, Scale, is_own
from agent.own_metrics.declaration import NAME, NAME_RULE, PREFIX

JUDGE_METRIC = "jury_score"
_MAX_GRADE = 1_000


def read_metrics(section: YamlMap, files: DefinitionFiles) -> tuple[MetricUse, ...]:
    """Read the list of metrics, which starts with the main one."""
    uses = tuple(_read_metric(inner, files) for inner in section.maps("metrics"))
    if not uses:
        section.note("metrics", "expected a list with at least one metric, each with a `name`")
    counts = Counter(use.name for use in uses)
    for name, count in counts.items():
        if count > 1:
            section.note("metrics", f"{name!r} is given twice")
    return uses


def _read_metric(section: YamlMap, files: DefinitionFiles) -> MetricUse:
    name = section.name("name")
    if is_own(name):
        return _read_own_metric(section, name)
    names = tuple(METRICS)
    if name and name not in names:
        section.note(
            "name", f"unknown metric {name!r}{nearest(name, names)}; known are {', '.join(names)}"
        )
    options: dict[str, bool | str] = {}
    if name in METRICS:
        for key, default in METRICS[name].options.items():
            options[key] = _read_option(section, key, default)
    helm_name = section.name("helm_name", name)
    if name != JUDGE_METRIC:
        optional = section.flag("optional", False)
        section.finish()
        return MetricUse(name, options, helm_name=helm_name, optional=optional)
    use = _read_jury(section, files, MetricUse(name, options, helm_name=helm_name))
    section.finish()
    return use


def _read_own_metric(section: YamlMap, name: str) -> MetricUse:
    """Read the use of a metric of the site's own. It has no other name, which could be that of a published metric."""
    if not NAME.fullmatch(name.removeprefix(PREFIX)):
        section.note("name", f"expected {PREFIX} and {NAME_RULE}")
    section.finish()
    return MetricUse(name, helm_name=name)


def _read_jury(section: YamlMap, files: DefinitionFiles, use: MetricUse) -> MetricUse:
    """Read the criteria of a jury with their questions, or a custom prompt that lists them."""
    criteria = section.pairs("criteria")
    prompt = ""
    fields: dict[str, tuple[str, ...]] = dict.fromkeys(criteria, (EXPLANATION,))
    gold_shown = section.flag("gold_shown", True)
    if section.has("prompt_file"):
        if criteria:
            section.note(
                "criteria", "give either `criteria` or a `prompt_file` that lists them, not both"
            )
        prompt, path = files.read_text(section, "prompt_file")
        if path is not None and prompt.strip():
            fields = _read_rubric(section, prompt, path, gold_shown)
            criteria = dict.fromkeys(fields, "")
    elif not criteria:
        section.note(
            "criteria",
            "expected `criteria` (a map from name to question), or a `prompt_file` with the judge's prompt",
        )
    scale = _read_scale(section, Scale(0, 5) if prompt else Scale(1, 5))
    judges = read_judges(section)
    return replace(
        use,
        prompt=prompt,
        judges=judges,
        quorum=read_quorum(section, judges),
        scale=scale,
        criteria=criteria,
        fields=fields,
        gold_shown=gold_shown,
    )


def _read_rubric(
    section: YamlMap, prompt: str, path: Path, gold_shown: bool
) -> dict[str, tuple[str, ...]]:
    if "{RESPONSE}" not in prompt:
        section.note(
            "prompt_file", f"{path}: a judge's prompt needs {{RESPONSE}} in place of the answer"
        )
    if "{GOLD_RESPONSE}" in prompt and not gold_shown:
        section.note(
            "gold_shown", f"{path} contains {{GOLD_RESPONSE}}; remove it, or omit `gold_shown`"
        )
    try:
        return read_rubric_block(prompt)
    except ValueError as why:
        section.note("prompt_file", f"{path}: {why}")
        return {}


def _read_scale(section: YamlMap, default: Scale) -> Scale:
    inner = section.map("scale")
    if inner is None:
        return default
    low = _read_bound(inner, "low")
    high = _read_bound(inner, "high")
    inner.finish()
    if low is None or high is None:
        return default
    if low >= high:
        section.note(
            "scale", "expected `low` to be less than `high`, since a higher grade must be better"
        )
        return default
    return Scale(low, high)


def _read_bound(section: YamlMap, key: str) -> float | None:
    text = section.text(key)
    if not text:
        return None
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number) or abs(number) > _MAX_GRADE:
        section.note(key, f"expected a number from {-_MAX_GRADE} to {_MAX_GRADE}")
        return None
    return number


def _read_option(section: YamlMap, key: str, default: bool | str) -> bool | str:
    return section.flag(key, default) if isinstance(default, bool) else section.text(key, default)

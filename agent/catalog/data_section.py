"""The `data` map of a definition: the official dataset files, and the sample that travels with the agent."""

import re
from dataclasses import dataclass
from pathlib import Path

from agent.catalog.yaml_map import YamlMap

LOADERS = ("csv", "json", "json_lines", "pubmed_qa", "head_qa", "medec")
"""Names of the file formats that `agent.datasets.formats` reads."""

_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class DataFile:
    """One dataset file in its official format.

    Attributes:
        name: file name at the source and in the site's `data/<benchmark id>/`; for a sample, its path in the
            benchmark's folder.
        sha256: of the version this definition was written for; None for a site's own dataset.
        rows: instances it gives; None if unknown.
        url: pinned address of that version; empty if there is none.
    """

    name: str
    sha256: str | None = None
    rows: int | None = None
    url: str = ""


@dataclass(frozen=True, slots=True)
class DataSection:
    """What the map says; see `Benchmark` for the meaning of each."""

    loader: str = "csv"
    files: tuple[DataFile, ...] = ()
    sample: DataFile | None = None
    sample_is_invented: bool = False
    source_url: str = ""
    source_commit: str = ""


def read_data_section(m: YamlMap) -> DataSection:
    """Read the map and note its problems."""
    loader = m.choice("loader", LOADERS)
    file_maps, sample_map = m.maps("files"), m.map("sample")
    files = tuple(_data_file(inner, "name") for inner in file_maps)
    sample = _data_file(sample_map, "file") if sample_map else None
    invented = sample_map.flag("invented", False) if sample_map else False
    for inner in (*file_maps, *([sample_map] if sample_map else [])):
        inner.finish()
    source_url, source_commit = m.name("source_url", ""), m.name("source_commit", "")
    if not files and sample is None:
        m.note("files", "expected `files` or a `sample`")
    m.finish()
    return DataSection(loader, files, sample, invented, source_url, source_commit)


def _data_file(m: YamlMap, name_key: str) -> DataFile:
    name = m.name(name_key)
    sha256 = m.text("sha256", "")
    if sha256 and not _SHA256.fullmatch(sha256):
        m.note("sha256", "expected 64 lower-case hexadecimal digits")
    if Path(name).is_absolute() or ".." in Path(name).parts:
        m.note(name_key, "expected a path that stays in its folder")
    return DataFile(name, sha256 or None, m.integer("rows", None), m.name("url", ""))

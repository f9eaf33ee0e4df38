"""The `data` map of a definition: the official dataset files, and the sample that travels with the agent."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from agent.io.yaml_map import YamlMap

LOADERS = (
    "csv",
    "tsv",
    "json",
    "json_lines",
    "parquet",
    "feather",
    "xlsx",
    "notes",
    "clear",
    "ehrshot",
    "medalign",
    "dischargeme",
    "mimic_rrs",
    "n2c2",
    "billing_codes",
    "pubmed_qa",
    "head_qa",
    "medec",
    "ehr_sql",
    "med_mcqa",
    "medhallu",
    "medi_qa",
    "medication_qa",
    "mtsamples",
    "race_based_med",
)
"""Names of the file formats that `agent.datasets.sources.formats` reads."""

BY_ENDING = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".json": "json",
    ".jsonl": "json_lines",
    ".parquet": "parquet",
    ".feather": "feather",
    ".xlsx": "xlsx",
}
"""The loader of a site's own dataset, by the end of its name; any other ending is read as CSV, as MedHELM does."""

_SHA256 = re.compile(r"[0-9a-f]{64}")


def loader_by_ending(path: Path) -> str:
    """Return the loader of a site's own dataset; the ending .gz of a compressed one does not count."""
    return BY_ENDING.get(Path(path.name.removesuffix(".gz")).suffix.lower(), "csv")


@dataclass(frozen=True, slots=True)
class Version:
    """One known version of a file.

    Attributes:
        sha256: of its bytes; of several files (a pattern), see `agent.datasets.folder.join_digests`.
        rows: instances it gives; None if unknown, 0 if it gives none by itself.
        url: pinned address; empty if there is none.
        label: what its publisher calls it (v1.2); empty if nothing.
        name: its file name, where the version has one of its own.
        note: what everybody who reads results of it should know; empty if nothing.
    """

    sha256: str
    rows: int | None = None
    url: str = ""
    label: str = ""
    name: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class DataFile:
    """One dataset file in its official format.

    Attributes:
        name: path at the source and in the site's `data/<benchmark id>/`; may hold `{argument}`, and `*` for all
            that match, in order of their names. For a sample, its path in the benchmark's folder.
        sha256: of the version this definition was written for; None for a site's own dataset.
        rows: instances it gives; None if unknown, 0 if it gives none by itself.
        url: pinned address of that version; empty if there is none.
        version: what its publisher calls that version; empty if nothing.
        note: what everybody who reads results of that version should know; empty if nothing.
        optional: whether it may be absent.
        versions: further known versions.
    """

    name: str
    sha256: str | None = None
    rows: int | None = None
    url: str = ""
    version: str = ""
    note: str = ""
    optional: bool = False
    versions: tuple[Version, ...] = ()

    @property
    def known(self) -> tuple[Version, ...]:
        """Every known version, the one that the definition was written for first."""
        own = (Version(self.sha256, self.rows, self.url, self.version, note=self.note),) if self.sha256 else ()
        return (*own, *self.versions)


@dataclass(frozen=True, slots=True)
class DataSection:
    """What the map says; see `Benchmark` for the meaning of each."""

    loader: str = "csv"
    files: tuple[DataFile, ...] = ()
    sample: DataFile | None = None
    sample_is_folder: bool = False
    sample_is_invented: bool = False
    sample_arguments: Mapping[str, str] = field(default_factory=dict)
    source_url: str = ""
    source_commit: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    agreement: str = ""
    agreement_url: str = ""


def read_data_section(m: YamlMap) -> DataSection:
    """Read the map and note its problems."""
    loader = m.choice("loader", LOADERS)
    file_maps, sample_map = m.maps("files"), m.map("sample")
    files = tuple(_data_file(inner, "name") for inner in file_maps)
    sample, in_folder = None, False
    if sample_map:
        in_folder = sample_map.has("folder")
        sample = _data_file(sample_map, "folder" if in_folder else "file")
    section = DataSection(
        loader,
        files,
        sample,
        sample_is_folder=in_folder,
        sample_is_invented=sample_map.flag("invented", False) if sample_map else False,
        sample_arguments=sample_map.pairs("arguments") if sample_map else {},
        source_url=m.name("source_url", ""),
        source_commit=m.name("source_commit", ""),
        options=m.pairs("options"),
        agreement=m.name("agreement", ""),
        agreement_url=m.name("agreement_url", ""),
    )
    for inner in (*file_maps, *([sample_map] if sample_map else [])):
        inner.finish()
    if not files and sample is None:
        m.note("files", "expected `files` or a `sample`")
    m.finish()
    return section


def _data_file(m: YamlMap, name_key: str) -> DataFile:
    file = DataFile(
        name=_inner_path(m, name_key, m.name(name_key)),
        sha256=_sha256(m) or None,
        rows=m.integer("rows", None, low=0),
        url=m.name("url", ""),
        version=m.name("version", ""),
        note=m.name("note", "") if name_key == "name" else "",
        optional=m.flag("optional", False) if name_key == "name" else False,
        versions=tuple(_version(inner) for inner in m.maps("versions")) if name_key == "name" else (),
    )
    labels = [version.sha256 for version in file.known if version.sha256]
    if len(set(labels)) < len(labels):
        m.note("versions", "two have one sha256")
    return file


def _version(m: YamlMap) -> Version:
    sha256 = _sha256(m)
    if not sha256:
        m.note("sha256", "is required and is missing or empty")
    name = _inner_path(m, "name", m.name("name", ""))
    rows, url, label, note = (
        m.integer("rows", None, low=0),
        m.name("url", ""),
        m.name("version", ""),
        m.name("note", ""),
    )
    found = Version(sha256, rows, url, label, name, note)
    m.finish()
    return found


def _sha256(m: YamlMap) -> str:
    sha256 = m.text("sha256", "")
    if sha256 and not _SHA256.fullmatch(sha256):
        m.note("sha256", "expected 64 lower-case hexadecimal digits")
    return sha256


def _inner_path(m: YamlMap, key: str, name: str) -> str:
    if Path(name).is_absolute() or ".." in Path(name).parts or "\\" in name:
        m.note(key, "expected a path that stays in its folder")
    if "**" in name:
        m.note(key, "a pattern has single stars: `*` is any part of one name")
    return name

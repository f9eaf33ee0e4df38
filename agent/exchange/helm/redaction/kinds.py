"""Kinds of files and fields that a redacted folder leaves out. The list is closed: a manifest names no others."""

from typing import Literal

Kind = Literal[
    # fields
    "contrast sets",
    "embeddings",
    "extra data",
    "links",
    "lists of tokens",
    "log probabilities",
    "media",
    "names",
    "numbers",
    "numbers of annotations",
    "settings",
    "statistics of times",
    "tags of references",
    "texts of cases",
    "times",
    "unknown fields",
    "unsettled instances",
    # files
    "files of cached instances",
    "files of caches",
    "files of data sets",
    "files of models",
    "files of other suites",
    "files of releases",
    "links to files",
    "logs",
    "other files",
]

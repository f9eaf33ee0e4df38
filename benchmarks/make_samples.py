"""Cuts the samples that travel with the agent from the official files, and writes licence and provenance beside them.

    python benchmarks/make_samples.py SOURCE

SOURCE holds a folder per benchmark id with the official files. The cut is deterministic, so the digests in each
benchmark.yaml must come out again; what is new is printed.
"""

import csv
import hashlib
import io
import json
import sys
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from make_invented_public import without_times

T = TypeVar("T")
HERE = Path(__file__).parent

MIT = """MIT License

Copyright (c) {holder}

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE.
"""

CREATIVE_COMMONS = """This sample is part of {title}, {authors}.
Source: {url}
Licence: {licence}, {licence_url}
Changes: only the records named in PROVENANCE.md were kept; their content is unchanged.
The licensor does not endorse this use. The sample is given under the same licence.
"""


@dataclass(frozen=True)
class Sample:
    """One sample: where its records come from, under which licence, and how they are cut."""

    benchmark: str
    source: str  # file in the source folder
    target: str  # file name in the sample folder: the official one
    repository: str
    commit: str
    path: str
    licence: str
    how: str
    licence_text: str
    cut: Callable[[bytes], bytes]


def text(cut: Callable[[str], str]) -> Callable[[bytes], bytes]:
    """Make a cut of a text file; line ends become those of Unix."""
    return lambda data: cut(io.TextIOWrapper(io.BytesIO(data), encoding="utf-8").read()).encode()


def spread(items: list[T], count: int) -> list[T]:
    """Take `count` items at even distances, from the first on."""
    return [items[i * len(items) // count] for i in range(min(count, len(items)))]


def as_json(value: object) -> str:
    """Write JSON one record a line deep, so that a difference can be read."""
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


def as_csv(header: list[str], rows: list[dict[str, str]]) -> str:
    """Write a CSV with the columns of the official file."""
    out = io.StringIO()
    writer = csv.DictWriter(out, header, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def read_csv(text: str) -> tuple[list[str], list[dict[str, str]]]:
    """Return header and rows."""
    reader = csv.DictReader(io.StringIO(text, newline=""))
    rows = list(reader)
    return list(reader.fieldnames or []), rows


def cut_pubmed_qa(text: str) -> str:
    """Take 100 articles."""
    articles: dict[str, Any] = json.loads(text)
    return as_json(dict(spread(list(articles.items()), 100)))


def cut_lines(text: str) -> str:
    """Take 100 lines as they are."""
    return "\n".join(spread(text.splitlines(), 100)) + "\n"


def cut_medcalc(text: str) -> str:
    """Take 15 rows of each of the 7 categories (of dates: 8 dates, 7 durations), notes of at most 2,500 characters."""
    header, rows = read_csv(text)
    short = [row for row in rows if len(row["Patient Note"]) <= 2500]
    groups: dict[tuple[str, bool], list[dict[str, str]]] = {}
    for row in short:
        groups.setdefault((row["Category"], row["Ground Truth Answer"].startswith("(")), []).append(
            row
        )
    picked = [
        row
        for (category, is_duration), group in groups.items()
        for row in spread(group, 7 if is_duration else 8 if category == "date" else 15)
    ]
    return as_csv(header, sorted(picked, key=lambda row: int(row["Row Number"])))


def cut_medec(text: str) -> str:
    """Take 100 notes (a share of each error type) and 8 of the empty rows."""
    header, rows = read_csv(text)
    full = [row for row in rows if row["Text"]]
    full.sort(key=lambda row: row["Error Type"])  # stable: even distances now keep the shares
    picked = {row["Text ID"] for row in spread(full, 100)}
    kept = [row for row in rows if row["Text ID"] in picked]
    return as_csv(header, kept + [row for row in rows if not row["Text"]][:8])


def cut_head_qa(text: str) -> str:
    """Take 8 or 9 questions without an image of each of the 12 exams, and 3 with one where there are any."""
    data = json.loads(text)
    for number, exam in enumerate(data["exams"].values()):
        plain = [question for question in exam["data"] if not question["image"]]
        imaged = [question for question in exam["data"] if question["image"]]
        picked = spread(plain, 8 + number % 2) + spread(imaged, 3)
        exam["data"] = [question for question in exam["data"] if question in picked]
    return as_json(data)


def cut_aci_bench(text: str) -> str:
    """Take 20 encounters."""
    return as_json({"data": spread(json.loads(text)["data"], 20)})


def cut_race_based_med(data: bytes) -> bytes:
    """Take every fifth question with its answer; headings, styles and colours stay as they are."""
    import docx

    document = docx.Document(io.BytesIO(data))
    runs, taken = 0, False
    for paragraph in list(document.paragraphs):
        if paragraph.text.strip().startswith("Run ") and ":" in paragraph.text:
            taken, runs = runs % 5 == 0, runs + 1
        if not taken:
            paragraph._element.getparent().remove(paragraph._element)
    for table in list(document.tables):
        table._element.getparent().remove(table._element)
    out = io.BytesIO()
    document.save(out)
    return without_times(out.getvalue(), zipfile.ZIP_DEFLATED)


SAMPLES = (
    Sample(
        "pubmed_qa",
        "ori_pqal.json",
        "ori_pqal.json",
        "https://github.com/pubmedqa/pubmedqa",
        "1f00b98d5cc626844bf8c4ca513b6e62c40071ec",
        "data/ori_pqal.json",
        "MIT",
        "100 of the 500 articles of the official test set (data/test_ground_truth.json), at even distances",
        MIT.format(holder="2019 pubmedqa"),
        text(cut_pubmed_qa),
    ),
    Sample(
        "med_qa",
        "phrases_no_exclude_test.first200.jsonl",
        "phrases_no_exclude_test.jsonl",
        "https://github.com/Teddy-XiongGZ/MIRAGE",
        "392943af99cd94cafd50a0de2e7fca24bbf65494",
        "rawdata/medqa/data_clean/questions/US/4_options/phrases_no_exclude_test.jsonl",
        "MIT",
        "every second of the first 200 lines",
        MIT.format(holder="2022 Di Jin"),
        text(cut_lines),
    ),
    Sample(
        "med_mcqa",
        "dev.json",
        "dev.json",
        "https://github.com/Teddy-XiongGZ/MIRAGE",
        "392943af99cd94cafd50a0de2e7fca24bbf65494",
        "rawdata/medmcqa/data/dev.json",
        "MIT",
        "100 of the 4,183 lines, at even distances",
        MIT.format(holder="2022 MedMCQA"),
        text(cut_lines),
    ),
    Sample(
        "medcalc_bench",
        "test_data.csv",
        "test_data.csv",
        "https://github.com/ncbi-nlp/MedCalc-Bench",
        "5523b7785c004912e76ca4db19efbd7367b23c40",
        "dataset/test_data.csv",
        "CC BY-SA 4.0",
        "15 rows of each of the 7 categories (dates: 8 calendar days, 7 weeks-and-days), at even distances among the "
        "rows whose note has at most 2,500 characters, in the order of Row Number",
        CREATIVE_COMMONS.format(
            title="MedCalc-Bench",
            authors="Khandekar et al. 2024 (arXiv 2406.12036)",
            url="https://github.com/ncbi-nlp/MedCalc-Bench",
            licence="Creative Commons Attribution-ShareAlike 4.0 International",
            licence_url="https://creativecommons.org/licenses/by-sa/4.0/",
        ),
        text(cut_medcalc),
    ),
    Sample(
        "medec",
        "MEDEC-MS-TestSet-with-GroundTruth-and-ErrorType.csv",
        "MEDEC-MS-TestSet-with-GroundTruth-and-ErrorType.csv",
        "https://github.com/abachaa/MEDEC",
        "49c59dcba43a7af8717590a405b11a57f42b04df",
        "MEDEC-MS/MEDEC-MS-TestSet-with-GroundTruth-and-ErrorType.csv",
        "CC BY 4.0",
        "100 of the 597 notes, at even distances within each error type, and 8 of the 328 empty rows",
        CREATIVE_COMMONS.format(
            title="MEDEC",
            authors="Ben Abacha et al. 2025 (Findings of ACL)",
            url="https://github.com/abachaa/MEDEC",
            licence="Creative Commons Attribution 4.0 International",
            licence_url="https://creativecommons.org/licenses/by/4.0/",
        ),
        text(cut_medec),
    ),
    Sample(
        "head_qa",
        "test_HEAD_EN.json",
        "HEAD_EN.json",
        "https://github.com/raulista1997/benchmarkdata",
        "52ba5528fd1ff1c6ec4ad1d0850126836404e71f",
        "HEAD_EN.json (HEAD-QA by aghie/head-qa; exams of the Spanish Ministerio de Sanidad, January 14th, 2019)",
        "MIT",
        "8 or 9 questions without an image of each of the 12 exams of 2016 and 2017, and 3 with an image of the two "
        "exams that have any (a loader must leave those out), at even distances",
        MIT.format(holder="2019 DVC"),
        text(cut_head_qa),
    ),
    Sample(
        "aci_bench",
        "clinicalnlp_taskB_test1_full.json",
        "clinicalnlp_taskB_test1_full.json",
        "https://github.com/wyim/aci-bench",
        "e75b383172195414a7a68843ec4876e83e5409f7",
        "data/challenge_data_json/clinicalnlp_taskB_test1_full.json",
        "CC BY 4.0",
        "20 of the 40 encounters of test set 1, every second one",
        CREATIVE_COMMONS.format(
            title="ACI-BENCH",
            authors="Yim et al. 2023 (Scientific Data)",
            url="https://github.com/wyim/aci-bench",
            licence="Creative Commons Attribution 4.0 International",
            licence_url="https://creativecommons.org/licenses/by/4.0/",
        ),
        text(cut_aci_bench),
    ),
    Sample(
        "race_based_med",
        "41746_2023_939_MOESM1_ESM.docx",
        "41746_2023_939_MOESM1_ESM.docx",
        "https://github.com/raulista1997/benchmarkdata",
        "52ba5528fd1ff1c6ec4ad1d0850126836404e71f",
        "41746_2023_939_MOESM1_ESM.docx (Supplementary Information 1 of doi 10.1038/s41746-023-00939-z)",
        "CC BY 4.0",
        "every fifth of the 175 questions with its answer; without tables and what stands before",
        CREATIVE_COMMONS.format(
            title="Large language models propagate race-based medicine",
            authors="Omiye, Lester, Spichak, Rotemberg and Daneshjou 2023 (npj Digital Medicine 6:195)",
            url="https://doi.org/10.1038/s41746-023-00939-z",
            licence="Creative Commons Attribution 4.0 International",
            licence_url="https://creativecommons.org/licenses/by/4.0/",
        ),
        cut_race_based_med,
    ),
    Sample(
        "medhallu",
        "pqa_labeled.first200.jsonl",
        "pqa_labeled.jsonl",
        "https://github.com/askerlee/MedHallu",
        "c57590fe523338bffda24078cfaf0dc7b4194b86",
        "Detection/MedHallu_pqa_labeled/train/data-00000-of-00001.arrow",
        "MIT",
        "every second of the first 200 rows, turned from Arrow into JSON lines",
        MIT.format(holder="2025 MedHallu"),
        text(cut_lines),
    ),
)


def make(sample: Sample, source: Path) -> None:
    """Write one sample folder."""
    official = (source / sample.benchmark / sample.source).read_bytes()
    if sample.benchmark == "pubmed_qa":
        test = json.loads((source / "pubmed_qa/test_ground_truth.json").read_text(encoding="utf-8"))
        tested = {pmid: article for pmid, article in json.loads(official).items() if pmid in test}
        official = json.dumps(tested).encode()
    data = sample.cut(official)
    folder = HERE / sample.benchmark / "sample"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / sample.target).write_bytes(data)
    (folder / "LICENSE").write_text(sample.licence_text, encoding="utf-8")
    digest = hashlib.sha256(data).hexdigest()
    (folder / "PROVENANCE.md").write_text(
        f"# {sample.benchmark}: sample\n\n"
        f"- Source: {sample.repository}, commit {sample.commit}, {sample.path}\n"
        f"- Licence: {sample.licence}, see LICENSE\n"
        f"- Cut: {sample.how}\n"
        f"- Made by: benchmarks/make_samples.py\n"
        f"- SHA-256 of {sample.target}: {digest}\n",
        encoding="utf-8",
    )
    definition = HERE / sample.benchmark / "benchmark.yaml"
    known = definition.exists() and digest in definition.read_text(encoding="utf-8")
    print(
        f"{sample.benchmark}: {len(data)} bytes, {digest}{'' if known else '  <- put this in benchmark.yaml'}"
    )


def main() -> None:
    """Write every sample."""
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    for sample in SAMPLES:
        make(sample, Path(sys.argv[1]))


if __name__ == "__main__":
    main()

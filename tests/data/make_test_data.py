"""Cuts the columns that the scoring tests need out of the official files.

    python tests/data/make_test_data.py SOURCE

SOURCE holds a folder per benchmark id with the official files and the published outputs.
"""

import csv
import json
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).parent

PROVENANCE = {
    "pubmed_qa": """# pubmed_qa: a human annotator's predictions
- human_predictions.csv: pmid, final_decision and reasoning_required_pred of the 500 articles of the official test
  set (data/test_ground_truth.json), from data/ori_pqal.json.
- Source: https://github.com/pubmedqa/pubmedqa, commit 1cbae8e92f72f20c8d3747cbb3bf5bc53554d997
- Licence: MIT, Copyright (c) 2019 pubmedqa (benchmarks/pubmed_qa/sample/LICENSE)
- Published: accuracy 78.00, macro-F1 72.19 (pubmedqa.github.io, 2019-09-13)
""",
    "med_mcqa": """# med_mcqa: outputs of a language model
- gpt-35-turbo-16k_medrag32.csv: for each of the 4,183 questions of the development split, in order, the right
  letter (from `cop`) and what the model wrote after `"answer_choice": "` (the whole output where that is missing,
  nothing where there was none).
- Source: https://github.com/Teddy-XiongGZ/MIRAGE, commit 392943af99cd94cafd50a0de2e7fca24bbf65494,
  rawdata/medmcqa/data/dev.json and prediction/medmcqa/rag_32/OpenAI/gpt-35-turbo-16k/medcorp/RRF-4
- Licence: data MIT, Copyright (c) 2022 MedMCQA (benchmarks/med_mcqa/sample/LICENSE); outputs: United States
  Government Work, public domain (NCBI notice of the repository)
- Published: 58.04 % (MIRAGE leaderboard, GPT-3.5-16k-0613 + MedRAG). That reading takes the letter A to D at the
  start and "A" where there is none; with the latter counted as wrong it is 53.45 %.
""",
    "aci_bench": """# aci_bench: outputs of a LED model
- led_test2.json: reference note and predicted note of the 40 encounters of test set 2.
- Source: https://github.com/wyim/aci-bench, commit b909b2bb9cf1d19de08df15cddde7bd0179665e4,
  data/challenge_data/clinicalnlp_taskC_test2.csv and
  baselines/predictions/LED_clinicalnlp_taskC_test2_division_combined.csv; Yim et al. 2023
- Licence: CC BY 4.0, https://creativecommons.org/licenses/by/4.0/. Changes: other columns left out.
- Published (results/LED_clinicalnlp_taskC_test2_division_combined.json, ALL): ROUGE-1 .351424, ROUGE-2 .085733,
  ROUGE-L .126481, ROUGE-Lsum .308420, F-measure without stemming
""",
    "mts_dialog": """# mts_dialog: summaries of four models and what people found in them
- summaries.csv: 400 rows (100 conversations, four models): Reference Summary, Automatic Summary, and FactualF1, by
  people's count of the facts that both have.
- Source: https://github.com/abachaa/MTS-Dialog, commit 3ff0801933608d6f570468c13125125fb5cabdea, Correlation-Study/
  MTS-Dialog-Automatic-Summaries-ValidationSet.csv and MTS-Dialog-Manual-Scores4CorrelationStudy.csv, joined by
  their order; Ben Abacha et al. 2023
- Licence: CC BY 4.0, https://creativecommons.org/licenses/by/4.0/. Changes: other columns left out.
- ROUGE-1 F to FactualF1: Pearson 0.407, without stemming
""",
    "medcalc_bench": """# medcalc_bench: the published answers
- answers.csv: Row Number, Category, Ground Truth Answer, Lower Limit and Upper Limit of all 1,047 test rows.
- Source: https://github.com/ncbi-nlp/MedCalc-Bench, commit 5523b7785c004912e76ca4db19efbd7367b23c40,
  dataset/test_data.csv; Khandekar et al. 2024
- Licence: CC BY-SA 4.0, https://creativecommons.org/licenses/by-sa/4.0/. Changes: other columns left out; this
  cut is given under the same licence.
""",
    "medec": """# medec: the published verdicts
- verdicts.csv: all 925 rows of the MS test set (328 of them empty) with Text ID, Error Flag, Error Sentence ID and
  Corrected Sentence; the column Sentences holds the word "note" in place of each note.
- Source: https://github.com/abachaa/MEDEC, commit 70268d24e3ce0cd6d0e099ff7bfd4966f2bbcc28,
  MEDEC-MS/MEDEC-MS-TestSet-with-GroundTruth-and-ErrorType.csv; Ben Abacha et al. 2025
- Licence: CC BY 4.0, https://creativecommons.org/licenses/by/4.0/. Changes: other columns left out.
""",
    "medhelm_configurable": """# medhelm_configurable: a benchmark as MedHELM's users write it
- exact_match_demo.*: HELM's EXACT-MATCH-DEMO, as printed in its docs/medhelm.md; invented examples, no clinical data.
- Source: https://github.com/stanford-crfm/helm, commit 63754d05db6f874e41a395880fb573890a13e791
- Licence: Apache-2.0
""",
}


def read_csv(path: Path) -> list[dict[str, str]]:
    """Return a CSV's rows."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def write_csv(path: Path, columns: list[str], rows: list[dict[str, str]]) -> None:
    """Write these columns of the rows."""
    path.parent.mkdir(exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def make(source: Path) -> None:
    """Write every file."""
    articles = json.loads((source / "pubmed_qa/ori_pqal.json").read_text(encoding="utf-8"))
    test = json.loads((source / "pubmed_qa/test_ground_truth.json").read_text(encoding="utf-8"))
    write_csv(
        HERE / "pubmed_qa/human_predictions.csv",
        ["pmid", "final_decision", "reasoning_required_pred"],
        [{"pmid": pmid, **articles[pmid]} for pmid in test],
    )

    outputs = {
        item["id"]: item["answer_tail"] or ""
        for item in map(
            json.loads,
            (source / "med_mcqa/outputs/gpt-35-turbo-16k_medrag32.jsonl")
            .read_text(encoding="utf-8")
            .splitlines(),
        )
    }
    questions = map(
        json.loads, (source / "med_mcqa/dev.json").read_text(encoding="utf-8").splitlines()
    )
    write_csv(
        HERE / "med_mcqa/gpt-35-turbo-16k_medrag32.csv",
        ["right", "answer_tail"],
        [{"right": "ABCD"[q["cop"] - 1], "answer_tail": outputs[q["id"]]} for q in questions],
    )

    predictions = read_csv(
        source / "aci_bench/scored/LED_clinicalnlp_taskC_test2_division_combined.predictions.csv"
    )
    references = read_csv(source / "aci_bench/scored/clinicalnlp_taskC_test2.csv")
    predicted = {row["encounter_id"]: row["note"] for row in predictions}
    notes = [
        {
            "file": row["encounter_id"],
            "reference": row["note"],
            "predicted": predicted[row["encounter_id"]],
        }
        for row in references
    ]
    (HERE / "aci_bench").mkdir(exist_ok=True)
    (HERE / "aci_bench/led_test2.json").write_text(
        json.dumps(notes, ensure_ascii=False, indent=1) + "\n", encoding="utf-8"
    )

    study = source / "mts_dialog"
    summaries = read_csv(study / "MTS-Dialog-Automatic-Summaries-ValidationSet.csv")
    people = read_csv(study / "MTS-Dialog-Manual-Scores4CorrelationStudy.csv")
    write_csv(
        HERE / "mts_dialog/summaries.csv",
        ["Reference Summary", "Automatic Summary", "FactualF1"],
        [made | said for made, said in zip(summaries, people, strict=True)],
    )

    write_csv(
        HERE / "medcalc_bench/answers.csv",
        ["Row Number", "Category", "Ground Truth Answer", "Lower Limit", "Upper Limit"],
        read_csv(source / "medcalc_bench/test_data.csv"),
    )

    medec = read_csv(source / "medec/MEDEC-MS-TestSet-with-GroundTruth-and-ErrorType.csv")
    write_csv(
        HERE / "medec/verdicts.csv",
        ["Text ID", "Sentences", "Error Flag", "Error Sentence ID", "Corrected Sentence"],
        [row | {"Sentences": "note" if row["Sentences"] else ""} for row in medec],
    )

    demo = HERE / "medhelm_configurable"
    demo.mkdir(exist_ok=True)
    for path in sorted((source / "medhelm_configurable").glob("exact_match_demo*")):
        shutil.copyfile(path, demo / path.name)

    for folder, text in PROVENANCE.items():
        (HERE / folder / "PROVENANCE.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    make(Path(sys.argv[1]))

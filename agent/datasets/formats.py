"""The file formats a benchmark may name as its `loader`."""

from agent.datasets.billing_codes import load_billing_codes
from agent.datasets.clear import load_clear
from agent.datasets.csv_table import read_csv, read_tsv
from agent.datasets.dischargeme import load_dischargeme
from agent.datasets.ehr_sql import load_ehr_sql
from agent.datasets.ehrshot import load_ehrshot
from agent.datasets.files import Loader, text_files
from agent.datasets.head_qa import read_head_qa
from agent.datasets.json_table import read_json, read_json_lines
from agent.datasets.med_mcqa import read_med_mcqa
from agent.datasets.medalign import load_medalign
from agent.datasets.medec import read_medec
from agent.datasets.medhallu import load_medhallu
from agent.datasets.medi_qa import load_medi_qa
from agent.datasets.medication_qa import load_medication_qa
from agent.datasets.mimic_rrs import load_mimic_rrs
from agent.datasets.mtsamples import load_mtsamples
from agent.datasets.n2c2 import load_n2c2
from agent.datasets.notes import load_notes
from agent.datasets.parquet import load_feather, load_parquet
from agent.datasets.pubmed_qa import read_pubmed_qa
from agent.datasets.race_based_med import load_race_based_med
from agent.datasets.xlsx import load_xlsx

FORMATS: dict[str, Loader] = {
    "csv": text_files(read_csv),
    "tsv": text_files(read_tsv),
    "json": text_files(read_json),
    "json_lines": text_files(read_json_lines),
    "parquet": load_parquet,
    "feather": load_feather,
    "xlsx": load_xlsx,
    "notes": load_notes,
    "clear": load_clear,
    "ehrshot": load_ehrshot,
    "medalign": load_medalign,
    "dischargeme": load_dischargeme,
    "mimic_rrs": load_mimic_rrs,
    "n2c2": load_n2c2,
    "billing_codes": load_billing_codes,
    "pubmed_qa": text_files(read_pubmed_qa),
    "head_qa": text_files(read_head_qa),
    "medec": text_files(read_medec),
    "ehr_sql": load_ehr_sql,
    "med_mcqa": text_files(read_med_mcqa),
    "medhallu": load_medhallu,
    "medi_qa": load_medi_qa,
    "medication_qa": load_medication_qa,
    "mtsamples": load_mtsamples,
    "race_based_med": load_race_based_med,
}

"""The file formats that a benchmark can name as its `loader`.

To add a format, add an entry here and its name to `agent.catalog.data_section.LOADERS`. If the file extension
identifies the format, also add it to `BY_ENDING` in that module. `agent.datasets.readers.files` handles an additional
`.gz` extension.
"""

from agent.datasets.readers.csv_table import read_csv, read_tsv
from agent.datasets.readers.files import Loader, make_text_loader
from agent.datasets.readers.json_table import read_json, read_json_lines
from agent.datasets.readers.parquet import load_feather, load_parquet
from agent.datasets.readers.xlsx import load_xlsx
from agent.datasets.sources.billing_codes import load_billing_codes
from agent.datasets.sources.clear import load_clear
from agent.datasets.sources.dischargeme import load_dischargeme
from agent.datasets.sources.ehr_sql import load_ehr_sql
from agent.datasets.sources.ehrshot import load_ehrshot
from agent.datasets.sources.head_qa import read_head_qa
from agent.datasets.sources.med_mcqa import read_med_mcqa
from agent.datasets.sources.medalign import load_medalign
from agent.datasets.sources.medec import read_medec
from agent.datasets.sources.medhallu import load_medhallu
from agent.datasets.sources.medi_qa import load_medi_qa
from agent.datasets.sources.medication_qa import load_medication_qa
from agent.datasets.sources.mimic_rrs import load_mimic_rrs
from agent.datasets.sources.mtsamples import load_mtsamples
from agent.datasets.sources.n2c2 import load_n2c2
from agent.datasets.sources.notes import load_notes
from agent.datasets.sources.pubmed_qa import read_pubmed_qa
from agent.datasets.sources.race_based_med import load_race_based_med

FORMATS: dict[str, Loader] = {
    "csv": make_text_loader(read_csv),
    "tsv": make_text_loader(read_tsv),
    "json": make_text_loader(read_json),
    "json_lines": make_text_loader(read_json_lines),
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
    "pubmed_qa": make_text_loader(read_pubmed_qa),
    "head_qa": make_text_loader(read_head_qa),
    "medec": make_text_loader(read_medec),
    "ehr_sql": load_ehr_sql,
    "med_mcqa": make_text_loader(read_med_mcqa),
    "medhallu": load_medhallu,
    "medi_qa": load_medi_qa,
    "medication_qa": load_medication_qa,
    "mtsamples": load_mtsamples,
    "race_based_med": load_race_based_med,
}

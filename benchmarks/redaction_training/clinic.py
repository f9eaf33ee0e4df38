"""Words of clinics that identify nobody: what a network must learn to leave alone."""

from benchmarks.redaction_training.lists import read_entries

CONDITIONS = read_entries("words/english/conditions")
DRUGS = read_entries("words/english/drugs")
THINGS = read_entries("words/english/things")
AGENCIES = read_entries("words/english/agencies")
SYMPTOMS = read_entries("words/english/symptoms")
PROCEDURES = read_entries("words/english/procedures")
SPECIALTIES = read_entries("words/english/specialties")
ROLES = read_entries("words/english/roles")
FAMILY = read_entries("words/english/family")
JOBS = read_entries("words/english/jobs")
LABS = read_entries("words/english/labs")
HEADERS = read_entries("words/english/headers")

"""Redact HELM's output folders, so that they can be shared. Only files and fields that HELM is known to write are kept.

layout.py        which files of a folder are redacted, and which are left out
json_content.py  reads the files, and checks whether a file still has the bytes that were written
shapes.py        HELM's data structures: the step for each field; fields that are not listed are left out
steps.py         the steps: how a name, a text or a number is treated
figures.py       whether the values of a statistic are consistent
kinds.py         the kinds of files and fields that are left out
walk.py          applies the steps to files, and redacts the texts of one instance together
names.py         names that may be shown, keyed labels for the others, keyed hashes of instance ids
vouched.py       the public names in HELM's catalogue and ours
name_filter.py   whether a name in neither catalogue may be shown
redacting.py     redacts a folder into a new one, which then replaces it
manifest.py      the list of the files written, with counts and digests
checking.py      redacts a finished folder again: nothing may change, be missing or be added
"""

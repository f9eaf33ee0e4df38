"""Redact HELM's output folders, so that they can be handed on: only files and fields that HELM is known to write stay.

layout.py        the files of a folder that are written anew, and those that are left out
json_content.py  reads them, and tells whether one is as it was written
shapes.py        HELM's data structures, field by field, with a step for each; a field that is not listed is left out
steps.py         the steps: what becomes of a name, a text, a number
figures.py       whether the figures of a statistic are consistent
kinds.py         the kinds of files and fields that are not carried over
walk.py          takes files through their steps, and the texts of one instance together through the redactor
names.py         names that may stay, keyed labels for the others, keyed hashes of instances' ids
vouched.py       names of HELM's catalogue and ours, which are public
name_filter.py   decides whether a name may stay that stands in neither
redacting.py     redacts a folder beside the old one, then puts it in its place
manifest.py      the list of the files written, with counts and digests
checking.py      redacts a finished folder again: nothing may change, be missing or be added
"""

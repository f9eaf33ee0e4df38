"""HELM's output folders made fit to be handed on: every file and field that HELM is known to write, and nothing else.

layout.py        which files of a folder are written anew, and what is left out
json_content.py  reading them, and whether one is as it was written
shapes.py        HELM's data structures, field by field: what becomes of each; a field that is not listed is left out
kinds.py         what things are called that are not carried over
walk.py          taking a file through its shape, the texts of one instance together through the redactor
names.py         what may keep its name, keyed labels for what may not, keyed hashes of instances' ids
vouched.py       names of HELM's catalogue and ours, which everybody can read
name_judge.py    whether a name may stay that stands in neither
redacting.py     a folder redacted beside the old one, then put in its place
manifest.py      what was written, with counts and digests
checking.py      the same again on a finished folder: nothing may change, nothing may be missing or more
"""

"""Texts in structured formats, read cell by cell: JSON, HL7 v2, XML and HTML, delimited files, tables and forms."""

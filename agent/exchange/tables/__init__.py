"""Tables of answers and scores for spreadsheets and other programs."""

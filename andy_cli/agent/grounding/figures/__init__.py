"""Numbers, dates, times and sizes of an answer, looked up in the evidence."""

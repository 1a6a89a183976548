"""The writing of texts: spelling, layout, vocabulary and the languages of reports."""

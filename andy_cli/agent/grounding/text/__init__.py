"""How texts are written: spelling, layout, vocabulary and the languages of reports."""

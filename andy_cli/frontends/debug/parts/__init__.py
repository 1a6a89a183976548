"""One module per pure part; each exports `PART`."""

"""Files and folders moved, copied and made: planned first, then carried out."""

"""Changes of files that can be taken back: the journal, the trash and undo."""

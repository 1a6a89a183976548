"""Folders listed and searched: walks, patterns of names, ignored files, contents."""

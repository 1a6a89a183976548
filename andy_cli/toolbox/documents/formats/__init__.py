"""Readers of documents: one file for each format, bytes in, text out."""

"""The place of the index of documents. Light to import: looked at whenever tools are offered."""

from pathlib import Path

from andy_cli.settings import data_folder


def index_file() -> Path:
    return data_folder() / "documents" / "index.db"


def missing_index() -> str:
    """Say what is missing before documents can be searched, or nothing."""
    if index_file().is_file():
        return ""
    return "No documents are indexed. Run `andy docs add FOLDER` to index a folder."

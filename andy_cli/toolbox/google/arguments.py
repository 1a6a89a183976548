"""Shapes in which models write an argument that is a list or a text. Pure."""

from andy_cli.toolbox.tool import ToolError


def split_words(written: object) -> object:
    """A list of words that came as one text, comma separated."""
    if isinstance(written, str):
        return [word.strip() for word in written.split(",") if word.strip()]
    return written


def join_texts(written: object) -> object:
    """A text that came as a list of texts."""
    if isinstance(written, list | tuple) and all(isinstance(text, str) for text in written):
        return ", ".join(written)
    return written


def parse_table(written: object) -> object:
    """Rows of cells, whatever their form. Raises ValueError for what are none."""
    from andy_cli.toolbox.google.contents.cells import rows_of

    try:
        return rows_of(written)
    except ToolError as error:
        raise ValueError(error.content) from error


def plain_title(written: object) -> object:
    """A title that came as an object of changes, nothing but a title among them."""
    if isinstance(written, dict) and len(written) == 1:
        return next(iter(written.values()))
    return written

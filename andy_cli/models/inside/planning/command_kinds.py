"""The kinds of commands that a plan tells apart, by what they take and do. Pure."""

from andy_cli.messages import Choice
from andy_cli.models.inside.values.parameters import list_parameters


def needs_value(choice: Choice) -> bool:
    return any(parameter.needed for parameter in list_parameters(choice))


def is_lister(choice: Choice) -> bool:
    """Tell whether it looks at something that need not be named; it lists nothing where all that it
    may look at is known, as the time of places is.
    """
    is_list = bool(list_parameters(choice)) and not choice.members
    return choice.only_looks and is_list and not needs_value(choice)


def takes_one(choice: Choice, kind: str) -> bool:
    """Tell whether it needs one value, of that kind, and the model is trusted with it."""
    needed = [parameter.kind for parameter in list_parameters(choice) if parameter.needed]
    return not choice.beyond and needed == [kind]


def takes_file(choice: Choice) -> bool:
    return takes_one(choice, "file")


def plays_file(choice: Choice) -> bool:
    """Tell whether it needs one file, and does something with it: as it is trusted, plays it."""
    return takes_file(choice) and not choice.only_looks


def reads_one(choice: Choice) -> bool:
    """Tell whether it shows the content of one file or page."""
    return choice.only_looks and (takes_file(choice) or takes_one(choice, "url"))


def reads_file(choice: Choice) -> bool:
    """Tell whether it needs one file, and changes nothing."""
    return choice.only_looks and takes_file(choice)


def find_entry_kind(choice: Choice) -> str:
    """Find what kind of entries it lists or searches for: `file` where it looks in a folder, `url`
    where it looks for words anywhere, else none.
    """
    kinds = {parameter.kind for parameter in list_parameters(choice)}
    if not choice.only_looks or choice.beyond or reads_one(choice):
        return ""
    if "folder" in kinds:
        return "file"
    return "url" if needs_value(choice) else ""


def finds_files(choice: Choice) -> bool:
    return find_entry_kind(choice) == "file"

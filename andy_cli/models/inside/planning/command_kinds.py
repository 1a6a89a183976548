"""The kinds of commands that a plan tells apart, by what they take and do. Pure."""

from andy_cli.messages import Choice
from andy_cli.models.inside.values.parameters import list_parameters


def needs_value(choice: Choice) -> bool:
    return any(parameter.needed for parameter in list_parameters(choice))


def is_lister(choice: Choice) -> bool:
    """Tell whether it looks at something that need not be named."""
    return choice.harmless and bool(list_parameters(choice)) and not needs_value(choice)


def takes_file(choice: Choice) -> bool:
    """Tell whether it needs one file, and the model is trusted with it."""
    needed = [parameter.kind for parameter in list_parameters(choice) if parameter.needed]
    return not choice.beyond and needed == ["file"]


def reads_one(choice: Choice) -> bool:
    """Tell whether it shows the content of one file or page."""
    needed = [parameter.kind for parameter in list_parameters(choice) if parameter.needed]
    return choice.harmless and not choice.beyond and needed in (["file"], ["url"])


def reads_file(choice: Choice) -> bool:
    """Tell whether it needs one file, and changes nothing."""
    return choice.harmless and takes_file(choice)

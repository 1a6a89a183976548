"""Fit steps to lists: what points at an entry needs a list before it, and takes of its kind."""

from collections.abc import Sequence

from andy_cli.messages import Choice
from andy_cli.models.inside.planning.command_kinds import (
    is_lister,
)
from andy_cli.models.inside.planning.mentions import Mentions
from andy_cli.models.inside.planning.planned_request import PlannedRequest, Step
from andy_cli.models.inside.values.entries import (
    find_entries,
    find_files,
    is_list,
    is_readable,
    is_text,
)
from andy_cli.models.inside.values.parameters import list_parameters
from andy_cli.models.inside.values.superlatives import points_at_entry

ENTRIES = frozenset({"file", "folder", "url", "id"})
"""Kinds of values that an entry of a list may be."""


class ListFitter:
    """Fits the steps of one request."""

    def __init__(self, request: PlannedRequest, mentions: Mentions) -> None:
        self._request = request
        self._mentions = mentions

    def fit(self, steps: list[Step]) -> list[Step]:
        """`The first one` of what has not been listed: list it before, by what lists its kind."""
        pointing = next((step for step in steps if points_at_entry(step.text)), None)
        if pointing is None or not self._points_at_entry(pointing):
            return steps
        place, choices = steps.index(pointing), self._request.choices
        lists = [at for at, choice in enumerate(choices) if at != pointing.at and is_lister(choice)]
        near = self._request.compare_commands(pointing.at, lists)
        if not near or not self._found_no_list(place, choices[pointing.at]):
            return steps
        best = max(near, key=near.__getitem__)
        return [*steps[:place], Step(best, pointing.text, 1.0), *steps[place:]]

    def _points_at_entry(self, step: Step) -> bool:
        choice = self._request.choices[step.at]
        needed = {parameter.kind for parameter in list_parameters(choice) if parameter.needed}
        takes_entry = bool(needed & ENTRIES) and not choice.beyond
        is_unnamed = self.points_into_folder(step) or not self._mentions.has_name(step.text, choice)
        return takes_entry and is_unnamed

    def points_into_folder(self, step: Step) -> bool:
        """`The second song in Docs`: tell whether an entry of a named folder is meant, whatever was
        listed before.
        """
        is_ordered = points_at_entry(step.text)
        return is_ordered and self._mentions.names_folder_alone(step.text)

    def _found_no_list(self, count: int, choice: Choice) -> bool:
        """Tell whether so many commands were carried out, and none found a list for this one."""
        found = self._request.constraint.context.results[:count]
        needed = [parameter.kind for parameter in list_parameters(choice) if parameter.needed]
        if needed == ["file"]:  # lines that were read are no files, but what was searched is meant
            names = self._request.constraint.context.names
            found = tuple(text for text in found if not is_text(text) or find_files(text, names))
        return len(self._request.constraint.context.results) >= count and not any(
            map(holds_list, found)
        )

    def points_back(self, steps: Sequence[Step]) -> bool:
        """Tell whether steps may point at a list that the turns before found: lines that were read
        are none.
        """
        names = self._request.names
        has_list = any(
            find_files(result, names) or (holds_list(result) and not is_text(result))
            for result in self._request.constraint.context.earlier
        )
        return has_list and not any(map(self.points_into_folder, steps))

    def holds_texts(self) -> bool:
        """Tell whether the newest files that were listed are all there to be read."""
        for result in reversed(self._request.constraint.context.earlier):
            if listed := find_files(result, self._request.names):
                return all(is_readable(entry.name) for entry in listed)
        return False


def holds_list(result: str) -> bool:
    return is_list(result) and bool(find_entries(result))

"""Does a figure or a date stand in a text as it was written? Pure."""

JOINTS = frozenset(".,:/-_")


def has_figure(text: str, figure: str) -> bool:
    """Does it stand there in the same digits, as no part of a longer figure, date or time?"""
    at = -1
    for _ in range(64):
        at = text.find(figure, at + 1)
        if at < 0:
            return False
        before, after = text[at - 2 : at], text[at + len(figure) : at + len(figure) + 2]
        if not (before[1:].isalnum() or (before[1:] in JOINTS and before[:1].isdigit())) and (
            not (after[:1].isalnum() or (after[:1] in JOINTS and after[1:].isdigit()))
        ):
            return True
    return False


def has_day(text: str, written: str) -> bool:
    """Does this date or time stand there, or begin a longer one?"""
    at = -1
    for _ in range(64):
        at = text.find(written, at + 1)
        if at < 0:
            return False
        before, after = text[at - 1], text[at + len(written)]
        if not (before.isdigit() or before in ":-." or after.isdigit()):
            return True
    return False

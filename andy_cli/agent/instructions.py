"""What the system prompt holds beside the rules of the house: the user's own words, and folders."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Instructions:
    """What a model is told at the top, whatever dialect it is taught."""

    system: str = ""
    """Stands in place of the rules of the house."""
    appended: str = ""
    folders: tuple[Path, ...] = ()
    """Further folders of the workspace."""

    def around(self, rules: str) -> str:
        """The rules, or what stands in their place, with all that belongs behind them."""
        folders = ", ".join(map(str, self.folders))
        parts = [
            self.system.strip() or rules.strip(),
            f"You may also work in these folders, by their whole paths: {folders}"
            if folders
            else "",
            self.appended.strip(),
        ]
        return "\n\n".join(filter(None, parts))


NO_INSTRUCTIONS = Instructions()

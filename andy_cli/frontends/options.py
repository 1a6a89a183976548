"""What the flags of `andy chat` and `andy run` have in common."""

from collections.abc import Sequence
from dataclasses import dataclass

from andy_cli.settings import Settings, load


@dataclass(frozen=True, slots=True)
class Options:
    model: str = ""
    base_url: str = ""
    api_key_env: str = ""
    set: Sequence[str] = ()
    no_session: bool = False
    plain: bool = False
    allow: Sequence[str] = ()
    deny: Sequence[str] = ()
    mode: str = ""
    mcp_config: Sequence[str] = ()

    def settings(self) -> Settings:
        """The settings with these flags on top. Raises UsageError."""
        flags = {
            "model": self.model,
            "base_url": self.base_url,
            "api_key_env": self.api_key_env,
            "guard.mode": self.mode,
            "ui.plain": "true" if self.plain else "",
        }
        return load(self.set, flags)

"""All that people and programs see: commands, the chat, `andy run`, `andy serve`."""

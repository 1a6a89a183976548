"""Command lines, taken apart and judged; `andy_cli.guard.shell` is the way in."""

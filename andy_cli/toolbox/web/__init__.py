"""The web as tools see it; `andy_cli.toolbox.web.client` is the way in."""

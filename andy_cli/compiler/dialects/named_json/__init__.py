"""Notations of a name, then its arguments as JSON; see `name_then_json.make_headed_parser`."""

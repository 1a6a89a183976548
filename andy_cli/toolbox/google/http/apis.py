"""The APIs of Google: what they are called and where they are."""

from typing import NamedTuple
from urllib.parse import urlsplit

from andy_cli.errors import ToolError
from andy_cli.guard.addresses import is_loopback
from andy_cli.settings import Settings
from andy_cli.toolbox.runtime_context import current_context


class Api(NamedTuple):
    name: str
    setting: str
    """Holds the address of its host; the path is the same everywhere."""
    path: str


GMAIL = Api("Gmail", "google.gmail_url", "/gmail/v1")
DRIVE = Api("Google Drive", "google.drive_url", "/drive/v3")
CALENDAR = Api("Google Calendar", "google.calendar_url", "/calendar/v3")
DOCS = Api("Google Docs", "google.docs_url", "/v1")
SHEETS = Api("Google Sheets", "google.sheets_url", "/v4")
TASKS = Api("Google Tasks", "google.tasks_url", "/tasks/v1")


def base_address(api: Api) -> str:
    """The address that its operations stand below. Raises ToolError for one that is not safe."""
    root_address = safe_address(current_context().settings, api.setting)
    return root_address.removesuffix(api.path) + api.path


def upload_address(api: Api) -> str:
    """Return the address that content is sent to: the same host, below `/upload`."""
    return f"{base_address(api).removesuffix(api.path)}/upload{api.path}"


def safe_address(settings: Settings, key: str) -> str:
    """An address from the settings. Tokens go there: in the clear to this machine alone."""
    url = settings.text(key).strip().rstrip("/")
    try:
        url_parts = urlsplit(url)
        host = url_parts.hostname or ""
        is_local = url_parts.scheme == "http" and is_loopback(host)
        is_safe = url_parts.scheme == "https" or is_local
    except ValueError:
        host, is_safe = "", False
    if not host or not is_safe or url_parts.query or url_parts.username:
        raise ToolError(f"The setting {key} is no https:// address. Correct it or take it out.")
    return url

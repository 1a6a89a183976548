"""Files and folders: look, read, search, write, change, organise, hand over.

Each tool imports what does its work when it is first called: together that takes 20 ms, and this
file is loaded at every start.
"""

from collections.abc import Mapping
from functools import partial
from typing import Annotated, Literal

from pydantic import Field

from andy_cli.toolbox.runtime_context import granted_path, in_thread
from andy_cli.toolbox.tool import Outcome, ResourceAccess, parameter, tool

TIMEOUT = 30
"""Seconds that looking and reading may take."""
COPYING = 300
ENDING = 2.0
"""Seconds in which a file that is being written is finished or taken away."""

Folder = Annotated[
    str,
    parameter("which folder", aliases=["folder", "directory", "dir"], is_path=True, min_length=1),
]
File = Annotated[
    str,
    parameter(
        "which file",
        aliases=["file", "file_path", "filepath", "filename", "name"],
        is_path=True,
        min_length=1,
    ),
]
Content = Annotated[
    str,
    parameter(
        "the whole content of the file", aliases=["text", "data", "body", "contents", "file_text"]
    ),
]
Given = Mapping[str, object]


def _text(arguments: Given, name: str) -> str:
    value = arguments.get(name)
    return value if isinstance(value, str) else ""


def _access_of_listing(arguments: Given) -> ResourceAccess:
    return ResourceAccess((_text(arguments, "path") or ".",), "list")


@tool(
    effect="read",
    title="list of files",
    aliases=(
        "ls",
        "list_dir",
        "list_files",
        "list_folder",
    ),
    action="list the files in {path}",
    find_access=_access_of_listing,
    examples=(
        "what is in this folder?",
        "show me my files",
        "which files are there?",
    ),
)
async def list_directory(
    path: Folder = ".",
    max_depth: Annotated[
        int,
        parameter(
            "how many levels of folders, 1 for the folder alone", aliases=["depth", "levels"], ge=1
        ),
    ] = 1,
) -> Outcome:
    """List the files and folders in a folder."""
    from andy_cli.toolbox.files.search import listing

    where = granted_path(path, "list")
    return await in_thread(lambda work: listing.list_folder(where, max_depth, work), TIMEOUT)


@tool(
    effect="read",
    title="file reader",
    aliases=(
        "cat",
        "view",
        "view_file",
        "open_file",
        "read_text_file",
        "get_file_contents",
    ),
    action="read {path|a file}",
    examples=(
        "read the text file",
        "show me the text file",
        "what does the text file say?",
        "open my notes",
        "what did I write down?",
    ),
)
async def read_file(
    path: File,
    start_line: Annotated[
        int | None,
        parameter(
            "the first line to read, counted from 1",
            aliases=["start", "from_line", "line_start", "offset", "first_line"],
            ge=1,
        ),
    ] = None,
    end_line: Annotated[
        int | None,
        parameter(
            "the last line to read", aliases=["end", "to_line", "line_end", "last_line"], ge=1
        ),
    ] = None,
    line_numbers: Annotated[
        bool | None, parameter("whether each line begins with its number")
    ] = None,
) -> Outcome:
    """Read a text file or some of its lines."""
    from andy_cli.toolbox.files import reading

    part = start_line is not None or end_line is not None
    numbered = part if line_numbers is None else line_numbers
    return await in_thread(
        lambda work: reading.read_page(path, start_line or 1, end_line, numbered, work), TIMEOUT
    )


def _access_of_writing(arguments: Given) -> ResourceAccess:
    from andy_cli.toolbox.files import changes

    path, content = _text(arguments, "path"), _text(arguments, "content")
    return changes.find_write_access(path, content, _text(arguments, "mimeType"))


@tool(
    effect="write",
    title="file writer",
    aliases=(
        "create_file",
        "save_file",
        "write_to_file",
    ),
    action="write {path|a file}",
    find_access=_access_of_writing,
    examples=(
        "write it into a text file",
        "save this as a file",
        "make a new note",
        "put it on my list",
        "overwrite the text file",
    ),
)
def write_file(path: File, content: Content) -> Outcome:
    """Write a whole text file, new or in place of the old one."""
    from andy_cli.toolbox.files import changes

    return changes.put_file(path, content)


def _access_of_editing(arguments: Given) -> ResourceAccess:
    from andy_cli.toolbox.files import changes

    path = _text(arguments, "path")
    old, new = _text(arguments, "old_string"), _text(arguments, "new_string")
    return changes.find_edit_access(path, old, new, bool(arguments.get("replace_all")))


@tool(
    effect="write",
    title="file editor",
    aliases=(
        "str_replace",
        "replace_in_file",
        "search_replace",
    ),
    action="edit {path|a file}",
    find_access=_access_of_editing,
    examples=(
        "replace a word in the text file",
        "correct the typo in the file",
        "add a line to the list",
        "remove this from the list",
        "tick it off",
    ),
)
def edit_file(
    path: File,
    old_string: Annotated[
        str,
        parameter(
            "the exact text to replace; it has to be there once",
            aliases=["old", "old_text", "old_str", "find", "search", "search_pattern", "find_text"],
            min_length=1,
        ),
    ],
    new_string: Annotated[
        str,
        parameter(
            "the text to put in its place",
            aliases=["new", "new_text", "new_str", "replace", "replacement", "replace_text"],
        ),
    ],
    replace_all: Annotated[bool, parameter("whether to replace it everywhere in the file")] = False,
) -> Outcome:
    """Change a part of a text file."""
    from andy_cli.toolbox.files import changes

    return changes.edit_file(path, old_string, new_string, replace_all)


@tool(
    effect="read",
    title="file search",
    aliases=(
        "grep",
        "glob",
        "find_files",
        "grep_search",
        "file_search",
        "search_file_content",
    ),
    action="search {path|the files} for {pattern} in {glob}",
    find_access=_access_of_listing,
    examples=(
        "in which file is it mentioned?",
        "look for this in my files",
        "where did I write about it?",
        "find the file about it",
    ),
)
async def search_files(
    pattern: Annotated[
        str,
        parameter(
            "what to look for in names and in texts (a regular expression)",
            aliases=["query", "regex", "text", "search", "search_pattern"],
        ),
    ] = "",
    path: Annotated[
        str,
        parameter(
            "which folder or file; what .gitignore names is left out",
            aliases=["folder", "directory", "dir", "file"],
            is_path=True,
            min_length=1,
        ),
    ] = ".",
    glob: Annotated[
        str,
        parameter(
            "only files of such names, as *.py or src/**/*.txt",
            aliases=["include", "file_pattern", "files", "name_pattern"],
        ),
    ] = "",
) -> Outcome:
    """Find files by name or content, also in PDF and office files.

    A pattern without a capital letter does not look at case.
    """
    from andy_cli.toolbox.files.search import searching

    where = granted_path(path, "list")
    asked = searching.SearchRequest(pattern, glob, path)
    return await in_thread(lambda work: searching.search_files(where, asked, work), TIMEOUT)


Paths = Annotated[
    list[Annotated[str, Field(json_schema_extra={"format": "path"})]],
    parameter(
        "which files and folders: their paths, or patterns as *.jpg or notes/**/*.txt",
        aliases=[
            *("path", "files", "file", "source", "sources", "src", "from", "items", "pattern"),
            *("file_paths", "filenames", "file_path", "old_path", "old_name"),
        ],
        min_length=1,
    ),
]
Destination = Annotated[
    str,
    parameter(
        "the folder they go to, which is made where it is missing; or, for one file or "
        "folder, its new name",
        aliases=["to", "target", "dest", "dst", "folder", "new_path", "new_name", "target_folder"],
        min_length=1,
    ),
]


Replace = Annotated[
    bool,
    parameter(
        "whether what has the same name there is replaced; it goes into the trash",
        aliases=["overwrite", "force"],
    ),
]


def _texts(arguments: Given, name: str) -> list[str]:
    value = arguments.get(name)
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _access_of_transfer(verb: Literal["move", "copy"], arguments: Given) -> ResourceAccess:
    from andy_cli.toolbox.files.moving import organizing

    paths, destination = _texts(arguments, "paths"), _text(arguments, "destination")
    replace = bool(arguments.get("replace"))
    return organizing.find_transfer_access(verb, paths, destination, replace)


async def _transfer(
    verb: Literal["move", "copy"], paths: list[str], destination: str, replace: bool
) -> Outcome:
    from andy_cli.toolbox.files.moving import organizing

    return await in_thread(
        lambda work: organizing.transfer_paths(verb, paths, destination, replace, work),
        COPYING,
        ENDING,
    )


@tool(
    effect="write",
    title="file mover",
    aliases=(
        "mv",
        "move_file",
        "rename",
        "rename_file",
    ),
    action="move {paths|files} to {destination|this folder}",
    find_access=partial(_access_of_transfer, "move"),
    examples=(
        "rename the file",
        "move the file into the folder",
        "call the file something else",
    ),
)
async def move(paths: Paths, destination: Destination, replace: Replace = False) -> Outcome:
    """Move or rename files and folders."""
    return await _transfer("move", paths, destination, replace)


@tool(
    effect="write",
    title="file copier",
    aliases=(
        "cp",
        "copy_file",
    ),
    action="copy {paths|files} to {destination|this folder}",
    find_access=partial(_access_of_transfer, "copy"),
    examples=(
        "copy the file",
        "make a backup of the file",
    ),
)
async def copy(paths: Paths, destination: Destination, replace: Replace = False) -> Outcome:
    """Copy files and folders."""
    return await _transfer("copy", paths, destination, replace)


def _folder_made(arguments: Given) -> ResourceAccess:
    from andy_cli.toolbox.files.moving import organizing

    return organizing.find_folder_access(_text(arguments, "path"))


@tool(
    effect="write",
    title="folder maker",
    aliases=(
        "mkdir",
        "make_directory",
        "create_directory",
        "create_folder",
    ),
    action="make a folder called {path}",
    find_access=_folder_made,
    examples=("create a new folder",),
)
def make_folder(
    path: Annotated[
        str,
        parameter(
            "the folder to make; those above it are made too",
            aliases=["folder", "directory", "dir", "name", "folder_name"],
            min_length=1,
        ),
    ],
) -> Outcome:
    """Make a new folder."""
    from andy_cli.toolbox.files.moving import organizing

    return organizing.make_folder(path)


def _access_of_trashing(arguments: Given) -> ResourceAccess:
    from andy_cli.toolbox.files.moving import organizing

    return organizing.find_trash_access(_texts(arguments, "paths"))


@tool(
    effect="write",
    title="trash",
    aliases=(
        "rm",
        "delete_file",
        "remove_file",
    ),
    action="put {paths|files} into the trash",
    find_access=_access_of_trashing,
    examples=(
        "delete the file",
        "remove the folder",
        "throw the file away",
        "get rid of the file",
    ),
)
async def trash(paths: Paths) -> Outcome:
    """Delete files and folders by putting them into the trash, from where they can come back."""
    from andy_cli.toolbox.files.moving import organizing

    return await in_thread(lambda work: organizing.trash_paths(paths, work), COPYING, ENDING)


MimeType = Annotated[
    str,
    parameter(
        "the MIME type; content of a type that is no text is base64",
        aliases=["mime_type", "type", "content_type"],
    ),
]


@tool(
    effect="write",
    title="file storage",
    action="write {path|a file}",
    find_access=_access_of_writing,
)
def file_put(path: File, content: Content, mimeType: MimeType = "") -> Outcome:
    """Put a file of any kind: text, or base64."""
    from andy_cli.toolbox.files import changes

    return changes.put_file(path, content, mimeType)


@tool(effect="read", title="file contents", action="read {path|a file}")
async def file_get(
    path: File,
    encoding: Annotated[str, parameter("the encoding of its text, or base64 for its bytes")] = "",
    maxLength: Annotated[
        int,
        parameter(
            "characters at most", aliases=["max_length", "limit", "max_chars", "length"], ge=1
        ),
    ] = 20_000,
) -> Outcome:
    """Get a file of any kind, with its type."""
    from andy_cli.toolbox.files import getting

    return await in_thread(lambda work: getting.get_file(path, encoding, maxLength, work), TIMEOUT)


@tool(
    effect="read",
    title="document reader",
    action="read the text of {path|a document}",
    examples=("read the PDF", "what is in the document?"),
)
async def file_ingest(
    path: File,
    offset: Annotated[
        int,
        parameter("character of a long text to go on from", aliases=["start", "from"], ge=0),
    ] = 0,
) -> Outcome:
    """Read the text of a document."""
    from andy_cli.toolbox.files import ingesting

    return await in_thread(lambda work: ingesting.ingest_file(path, offset, work), TIMEOUT)


def _access_of_upload(arguments: Given) -> ResourceAccess:
    from andy_cli.toolbox.files import uploading

    return uploading.find_upload_access(_text(arguments, "path"), _text(arguments, "destination"))


@tool(
    effect="act",
    title="file transfer",
    action="copy {path|a file} to {destination|this folder}",
    find_access=_access_of_upload,
    examples=(
        "upload the file",
        "send the file to the web address",
    ),
)
async def file_upload(
    path: File,
    destination: Annotated[
        str,
        parameter(
            "the folder it is copied to, or the web address it is sent to",
            aliases=["to", "target", "dest", "url", "folder"],
            min_length=1,
        ),
    ],
) -> Outcome:
    """Copy a file to a folder, or send it to a web address."""
    from andy_cli.toolbox.files import uploading

    if uploading.is_address(destination):
        return await uploading.send_file(path, destination)
    return await in_thread(
        lambda work: uploading.copy_file(path, destination, work), COPYING, ENDING
    )

"""Run a command confined by Landlock and seccomp: a program of its own, which becomes the command.

    python -I -S landlock.py '{"read": [...], "list": [...], ...}' bash -c '...'

It may read and run what lies under `read`, see the names under `list`, use `devices`, and nothing
else: it opens no other file, creates, changes and removes none, changes no mode, owner, time or
attribute, has no sockets, and no way to other processes. The kernel holds this for all that it
starts. Where the kernel cannot, nothing runs.

Three system calls and a filter of 40 instructions: what is kept for Python needs a newer kernel or
brings 12 MB. The numbers are those of the kernel's headers (landlock.h, seccomp.h, unistd.h).
"""

import ctypes
import json
import os
import platform
import stat
import struct
import sys
from collections.abc import Sequence
from typing import NamedTuple

OLDEST = 3
"""The version of Landlock from which on it holds truncation too: Linux 6.2."""
SCOPED = 6
"""From which on signals and abstract sockets stay within."""
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
GIVE_VERSION, PATH_BENEATH = 1, 1
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
ALL_OF_FILES, IOCTL_DEV = (1 << 15) - 1, 1 << 15
TCP = 0b11
SIGNALS_AND_SOCKETS = 0b11

NO_NEW_PRIVILEGES, DIE_WITH_PARENT, SET_FILTER = 38, 1, 22
FILTER_MODE, KILL = 2, 9
LOAD, EQUAL, AT_LEAST, RETURN = 0x20, 0x15, 0x35, 0x06
ALLOW, REFUSE = 0x7FFF0000, 0x00050000 | 1  # EPERM
NUMBER, ARCHITECTURE, SECOND_ARGUMENT = 0, 4, 24
Step = tuple[int, int, int, int]
"""Of a filter: what to do, how many steps to leave out where it holds and where not, with what."""
REFUSED: Step = (RETURN, 0, 0, REFUSE)
ALLOWED: Step = (RETURN, 0, 0, ALLOW)
FOREIGN_CALLS = 0x40000000
"""Of x86-64: calls of another interface begin there, with numbers of their own."""
CHANGING_IOCTLS = (0x40086602, 0x40046602, 0x401C5820, 0x5412)
"""Attributes of files, twice, of XFS, and typing into a terminal."""


class RefusedCalls(NamedTuple):
    """The system calls of an architecture that are refused, by their numbers."""

    audit: int
    ioctl: int
    signals: str
    """Refused where Landlock does not hold signals."""
    sockets: str
    attributes: str
    """Modes, owners, times, attributes, in all their forms."""
    others: str
    """Other processes, keys, bpf, perf, userfaultfd, mounts, namespaces, descriptors of others."""


EVERYWHERE = "425 426 427 438 452 463 466 469"
"""io_uring, pidfd_getfd, fchmodat2, setxattrat, removexattrat, file_setattr."""
MACHINES = {
    "x86_64": RefusedCalls(
        audit=0xC000003E,
        ioctl=16,
        signals="62 129 200 234 297 424",
        sockets="41",
        attributes="90 91 92 93 94 132 188 189 190 197 198 199 235 260 261 268 280",
        others="101 165 166 248 249 250 272 298 308 310 311 321 323",
    ),
    "aarch64": RefusedCalls(
        audit=0xC00000B7,
        ioctl=29,
        signals="129 130 131 138 240 424",
        sockets="198",
        attributes="5 6 7 14 15 16 52 53 54 55 88",
        others="39 40 97 117 217 218 219 241 268 270 271 280 282",
    ),
}


def confine_process(read: Sequence[str], listed: Sequence[str], devices: Sequence[str]) -> None:
    """Confine this process and all it will start. Raises OSError where that cannot be."""
    machine, version = MACHINES.get(platform.machine()), find_version()
    if machine is None or version < OLDEST:
        raise OSError("this kernel cannot confine a program")
    _prctl(DIE_WITH_PARENT, KILL)
    _prctl(NO_NEW_PRIVILEGES, 1)
    rules = _create_ruleset(version)
    for path in read:
        _allow_below(rules, path, EXECUTE | READ_FILE | READ_DIR)
    for path in listed:
        _allow_below(rules, path, READ_DIR)
    for path in devices:
        _allow_below(rules, path, READ_FILE | WRITE_FILE)
    _call_system(RESTRICT_SELF, rules, 0)
    os.close(rules)
    _filter_calls(machine, version)


def find_version() -> int:
    """The version of Landlock that the kernel has; 0 if it has none."""
    try:
        return _call_system(CREATE_RULESET, None, 0, GIVE_VERSION) if sys.platform == "linux" else 0
    except OSError:
        return 0


def _create_ruleset(version: int) -> int:
    """A set of rules that refuses all that this version of Landlock can; returns its descriptor."""
    files = ALL_OF_FILES | (IOCTL_DEV if version >= 5 else 0)
    network = TCP if version >= 4 else 0
    scoped = SIGNALS_AND_SOCKETS if version >= SCOPED else 0
    attributes = struct.pack("QQQ", files, network, scoped)
    # The structure has grown with the versions, by the eight bytes of each field above.
    known_fields = 1 + (version >= 4) + (version >= SCOPED)
    size = 8 * known_fields
    return _call_system(CREATE_RULESET, attributes, size, 0)


def _allow_below(rules: int, path: str, access: int) -> None:
    """Allow it under a path; one that is not there, or a link where none was, is left out."""
    try:
        descriptor = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return
    if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
        access &= ~READ_DIR
    _call_system(ADD_RULE, rules, PATH_BENEATH, struct.pack("=Qi", access, descriptor), 0)
    os.close(descriptor)


def _filter_calls(machine: RefusedCalls, version: int) -> None:
    refused = " ".join((machine.sockets, machine.attributes, machine.others, EVERYWHERE))
    if version < SCOPED:
        refused += f" {machine.signals}"
    program = [
        _load_step(ARCHITECTURE),
        (EQUAL, 1, 0, machine.audit),
        REFUSED,
        _load_step(NUMBER),
        *_branch_if(AT_LEAST, FOREIGN_CALLS, REFUSED),
    ]
    for number in map(int, refused.split()):
        program += _branch_if(EQUAL, number, REFUSED)
    ioctls = [
        instruction
        for request in CHANGING_IOCTLS
        for instruction in _branch_if(EQUAL, request, REFUSED)
    ]
    program += _branch_if(EQUAL, machine.ioctl, _load_step(SECOND_ARGUMENT), *ioctls)
    program.append(ALLOWED)
    code = b"".join(struct.pack("=HBBI", *instruction) for instruction in program)
    buffer = ctypes.create_string_buffer(code)
    filter = struct.pack("HxxxxxxP", len(program), ctypes.addressof(buffer))
    _prctl(SET_FILTER, FILTER_MODE, filter)


def _load_step(offset: int) -> Step:
    return (LOAD, 0, 0, offset)


def _branch_if(condition: int, value: int, *steps: Step) -> list[Step]:
    """These steps where the test holds, else on after them."""
    return [(condition, 0, len(steps), value), *steps]


def _call_system(number: int, *arguments: object) -> int:
    """A system call. Raises OSError."""
    return _check_result(_load_libc().syscall(ctypes.c_long(number), *map(_as_long, arguments)))


def _prctl(option: int, *arguments: object) -> None:
    padded = [*map(_as_long, arguments), *[ctypes.c_long(0)] * (4 - len(arguments))]
    _check_result(_load_libc().prctl(ctypes.c_int(option), *padded))


def _load_libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _as_long(value: object) -> object:
    """As wide as the kernel reads it; bytes and None are pointers."""
    return ctypes.c_long(value) if isinstance(value, int) else value


def _check_result(returned: int) -> int:
    if returned < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return returned


def main() -> int:
    sandbox_spec = json.loads(sys.argv[1])
    try:
        confine_process(sandbox_spec["read"], sandbox_spec["list"], sandbox_spec["devices"])
        os.chdir(sandbox_spec["folder"])
        os.execv(sys.argv[2], sys.argv[2:])
    except OSError as error:
        sys.stderr.write(f"The sandbox does not start: {error.strerror or error}.\n")
    return 126


if __name__ == "__main__":
    sys.exit(main())

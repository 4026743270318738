"""Files that are written whole or not at all.

What is written goes to a file without a name, which gets its name when all of it is on the disk; where the system has
no such files, to one with a hidden name beside its place:

    new file        open nameless . . . write . . . flush . . . link to the name
    existing file   open nameless . . . write . . . flush . . . link to a hidden name, rename over the old file

An exception, Ctrl-C among them, leaves the old file or none, and no hidden one. A process that is killed outright
leaves no hidden file either, unless it is between the last two steps of the second line, or on a system without
nameless files (anything but Linux, and some network folders): there `.dipolar-<16 hexadecimal digits>` may stay behind,
and can be deleted.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, cast

__all__ = ["place_of", "write_whole"]


@contextmanager
def write_whole(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file for writing that appears complete, at the end of the `with` block, or not at all.

    A link is followed to the file that it names. A file that exists is replaced and keeps its permissions; a new one
    gets those that the umask leaves.

    Parameters
    ----------
    path : str or path-like
        A regular file, or a name that is free. Folders, devices and pipes are refused.

    Yields
    ------
    stream : binary file
        It can be written, read and moved in.

    Raises
    ------
    OSError
        If the file cannot be written; a file that was there is then unchanged.

    Examples
    --------
    >>> from dipolar.files import write_whole
    >>> with write_whole("notes.txt") as stream:  # doctest: +SKIP
    ...     stream.write(b"all of it")
    """
    place, old = place_of(path)
    hidden = place.with_name(f".dipolar-{secrets.token_hex(8)}")
    try:
        stream, has_name = _open_draft(hidden, 0o666 if old is None else 0o600)
        with stream:
            if old is not None:
                _resemble(stream.fileno(), old)
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
            if not has_name:
                has_name = _give_name(stream.fileno(), place if old is None else hidden, hidden)
        if has_name:
            os.replace(hidden, place)
    finally:
        with suppress(OSError):  # it is not there any more, or never was
            hidden.unlink()


def place_of(path: str | os.PathLike[str]) -> tuple[Path, os.stat_result | None]:
    """Return where a file that is to be written really is, and what is known of the one that is there.

    Raises OSError for what cannot be replaced: folders, devices, pipes, and files that are write-protected.
    """
    place = Path(os.path.realpath(path))
    try:
        old = os.stat(path)
    except FileNotFoundError:
        return place, None
    if not stat.S_ISREG(old.st_mode):
        number = errno.EISDIR if stat.S_ISDIR(old.st_mode) else errno.EINVAL
        raise OSError(number, "Not a regular file, and only such are written", os.fspath(path))
    if not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, "The file is write-protected", os.fspath(path))
    return place, old


def _open_draft(hidden: Path, mode: int) -> tuple[BinaryIO, bool]:
    """Open a file in the folder of a hidden name, and tell whether it has that name or none."""
    if hasattr(os, "O_TMPFILE") and os.path.isdir("/proc/self/fd"):
        with suppress(OSError):  # not in this folder; what else may be wrong is found by the attempt below
            return open(os.open(hidden.parent, os.O_TMPFILE | os.O_RDWR, mode), "w+b"), False
    stream = open(hidden, "x+b", opener=lambda name, flags: os.open(name, flags, mode))  # noqa: SIM115
    return cast(BinaryIO, stream), True


def _give_name(descriptor: int, wanted: Path, hidden: Path) -> bool:
    """Give a nameless file the wanted name, or the hidden one where that is taken; tell whether it is hidden now."""
    # With a folder's descriptor, which an absolute path makes no use of, Python follows the link to the open file.
    try:
        os.link(f"/proc/self/fd/{descriptor}", wanted, src_dir_fd=descriptor)
    except FileExistsError:  # it has come into being since
        os.link(f"/proc/self/fd/{descriptor}", hidden, src_dir_fd=descriptor)
        return True
    return wanted == hidden


def _resemble(descriptor: int, old: os.stat_result) -> None:
    """Give an open file the owner, as far as that is allowed, and the permissions of another."""
    if hasattr(os, "fchown"):
        with suppress(OSError):
            os.fchown(descriptor, old.st_uid, old.st_gid)
        os.fchmod(descriptor, stat.S_IMODE(old.st_mode))

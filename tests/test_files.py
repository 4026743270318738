"""Files that are written whole or not at all."""

import os
import signal
import socket
import stat
import subprocess
import sys

import pytest

from dipolar.files import write_whole


@pytest.fixture(params=["nameless", "hidden"])
def kind(request, monkeypatch):
    """Both kinds of drafts, the second as on a system that has no files without a name."""
    if request.param == "hidden":
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    elif not hasattr(os, "O_TMPFILE"):
        pytest.skip("no files without a name here")
    return request.param


def write(path, content=b"new"):
    with write_whole(path) as stream:
        stream.write(content)


def mode_of(path):
    return stat.S_IMODE(os.stat(path).st_mode)


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_new_files_get_what_the_umask_leaves(tmp_path, kind, umask, mode):
    before = os.umask(umask)
    try:
        write(tmp_path / "a")
    finally:
        os.umask(before)
    assert (tmp_path / "a").read_bytes() == b"new" and mode_of(tmp_path / "a") == mode


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666, 0o755])
def test_replaced_files_keep_their_permissions_from_the_first_byte(tmp_path, kind, mode):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(mode)
    with write_whole(path) as stream:
        assert stat.S_IMODE(os.fstat(stream.fileno()).st_mode) == mode
        stream.write(b"new")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new" and mode_of(path) == mode and os.listdir(tmp_path) == ["a"]


@pytest.mark.parametrize("there", [True, False])
def test_links_are_followed(tmp_path, kind, there):
    (tmp_path / "folder").mkdir()
    target = tmp_path / "folder" / "target"
    if there:
        target.write_bytes(b"old")
    (tmp_path / "near").symlink_to("folder/target")
    (tmp_path / "far").symlink_to(tmp_path / "near")
    write(tmp_path / "far")
    assert target.read_bytes() == b"new" and (tmp_path / "far").is_symlink() and (tmp_path / "near").is_symlink()
    assert os.listdir(tmp_path / "folder") == ["target"]


def test_only_regular_files_are_replaced(tmp_path, monkeypatch, kind):
    monkeypatch.chdir(tmp_path)  # the name of a socket is short
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "link").symlink_to("pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        for name in ("pipe", "folder", "loop", "link", "socket"):
            before = os.lstat(tmp_path / name)
            with pytest.raises(OSError) as error:
                write(tmp_path / name)
            assert error.value.strerror and os.lstat(tmp_path / name) == before
    with pytest.raises(FileNotFoundError):
        write(tmp_path / "no folder" / "a")
    assert len(os.listdir(tmp_path)) == 5


@pytest.mark.skipif(os.geteuid() == 0, reason="the administrator may write to any file")
def test_write_protected_files_are_left_alone(tmp_path, kind):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(0o444)
    with pytest.raises(PermissionError, match="write-protected"):
        write(path)
    assert path.read_bytes() == b"old"


@pytest.mark.parametrize("name", ["a" * 255, "é" * 127, "a" * 250 + ".csv"])
@pytest.mark.parametrize("there", [True, False])
def test_names_may_be_as_long_as_the_system_allows(tmp_path, kind, name, there):
    if there:
        (tmp_path / name).write_bytes(b"old")
    write(tmp_path / name)
    assert (tmp_path / name).read_bytes() == b"new" and os.listdir(tmp_path) == [name]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("there", [True, False])
def test_what_is_broken_off_leaves_the_old_file_or_none(tmp_path, kind, error, there):
    path = tmp_path / "a"
    if there:
        path.write_bytes(b"old")
    with pytest.raises(error), write_whole(path) as stream:
        stream.write(b"half")
        raise error
    assert os.listdir(tmp_path) == (["a"] if there else [])
    assert not there or path.read_bytes() == b"old"


def test_the_last_of_two_writers_wins(tmp_path, kind):
    with write_whole(tmp_path / "a") as stream:
        stream.write(b"first to start, last to end")
        write(tmp_path / "a", b"in between")
        assert (tmp_path / "a").read_bytes() == b"in between"
    assert (tmp_path / "a").read_bytes().startswith(b"first") and os.listdir(tmp_path) == ["a"]


KILLED = """
import os, sys
from dipolar.files import write_whole
with write_whole(sys.argv[1]) as stream:
    stream.write(b"half")
    stream.flush()
    os.kill(os.getpid(), int(sys.argv[2]))
"""


@pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="no files without a name here")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_process_that_is_killed_while_it_writes_leaves_nothing(tmp_path, number):
    done = subprocess.run([sys.executable, "-c", KILLED, tmp_path / "a", str(int(number))], timeout=60)
    assert done.returncode == -number and os.listdir(tmp_path) == []

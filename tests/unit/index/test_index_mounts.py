"""Which folders of originals lie on network file systems."""

import pytest

from photosvc.index.mounts import is_remote, mounts_below

TABLE = """rootfs / ext4 rw 0 0
nas:/photos {root}/srv/photos nfs4 rw 0 0
/dev/sdb1 {root}/srv/photos/local ext4 rw 0 0
me@host: {root}/home/My\\040pictures fuse.sshfs rw 0 0
//win/share {root}/data/inner/win cifs rw 0 0
/dev/sdc1 {root}/usb fuse.ntfs rw 0 0
short
"""


@pytest.mark.parametrize(
    ("folder", "remote"),
    [
        ("srv/photos", True),
        ("srv/photos/2020", True),
        ("srv/photos/local/a", False),
        ("srv/photos2", False),
        ("home/My pictures", True),
        ("data", True),
        ("usb", False),
        ("", True),
        ("elsewhere", False),
    ],
)
def test_the_innermost_mount_and_those_below_a_folder_count(tmp_path, folder, remote):
    table = tmp_path / "mounts"
    table.write_text(TABLE.format(root=tmp_path))
    assert is_remote(tmp_path / folder, table) is remote


NUMBERED = """25 1 8:1 / / rw shared:1 - ext4 rootfs rw
31 25 0:40 / {root}/srv/photos rw - nfs4 nas:/photos rw
32 31 8:17 / {root}/srv/photos/a\\040b rw - ext4 /dev/sdb1 rw
short
"""


def test_mounts_below_a_folder_are_those_inside_it_alone(tmp_path):
    table = tmp_path / "mountinfo"
    table.write_text(NUMBERED.format(root=tmp_path))
    photos, inner = f"{tmp_path}/srv/photos", f"{tmp_path}/srv/photos/a b"
    assert mounts_below(tmp_path / "srv", table) == {photos: "31", inner: "32"}
    assert mounts_below(tmp_path / "srv/photos", table) == {inner: "32"}
    assert mounts_below(tmp_path / "srv/photos/a b", table) == {}


def test_without_a_table_nothing_is_remote_or_mounted(tmp_path):
    assert is_remote(tmp_path, tmp_path / "nothing") is False
    assert mounts_below(tmp_path, tmp_path / "nothing") == {}

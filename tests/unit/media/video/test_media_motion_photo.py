"""The video inside a motion photo, found without a decoder and never outside of the file."""

from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from photosvc.media.motion_photo import embedded_duration, find_embedded
from photosvc.media.slices import Slice, open_slices
from tests.helpers.examples import examples
from tests.helpers.pictures import jpeg
from tests.unit.media.video.videos import google_photo, heic_photo, micro_video, samsung_photo, samsung_trailer

VIDEO = b"\0\0\0\x18ftypmp42\0\0\0\0mp42isom" + b"the rest"


def found(data):
    part = find_embedded(BytesIO(data), len(data))
    return None if part is None else data[part.start : part.stop]


def test_the_video_of_a_motion_photo_is_found_to_the_byte():
    for photo in (
        google_photo(VIDEO), google_photo(VIDEO, padding=7), micro_video(VIDEO), samsung_photo(VIDEO),
        heic_photo(VIDEO), heic_photo(samsung_trailer(VIDEO), b"sefd"),
    ):  # fmt: skip
        assert found(photo) == VIDEO, photo[-300:]


def test_a_picture_without_a_video_at_the_stated_place_is_plain():
    other = b"no video but as long as one"
    for photo in (
        *(make(other) for make in (google_photo, micro_video, samsung_photo, heic_photo)),
        micro_video(VIDEO)[: -len(VIDEO)],
        micro_video(VIDEO).replace(b'Offset="', b'Offset="9999999'),
        micro_video(VIDEO).replace(b'Offset="', b'Offset="-'),
        samsung_photo(VIDEO).replace(b"SEFH", b"SEFX"),
        samsung_photo(VIDEO)[:-8] + b"\xff\xff\xff\xffSEFT",
        VIDEO,
        b"",
        b"\xff\xd8\xff",
    ):
        assert found(photo) is None, photo[-300:]


def test_a_picture_with_data_that_av_cannot_open_is_plain_and_without_av_the_mark_decides(monkeypatch):
    photo = google_photo(VIDEO)
    assert embedded_duration(BytesIO(photo), len(photo)) is None
    monkeypatch.setattr("photosvc.media.motion_photo.has_extra", lambda _extra: False)
    assert embedded_duration(BytesIO(photo), len(photo)) == 0
    assert embedded_duration(BytesIO(jpeg()), len(jpeg())) is None


@examples(100)
@given(st.data())
def test_damaged_motion_photos_never_lead_out_of_the_file(data):
    photo = bytearray(data.draw(st.sampled_from([google_photo(VIDEO), samsung_photo(VIDEO), micro_video(VIDEO)])))
    for _ in range(data.draw(st.integers(1, 4))):
        photo[data.draw(st.integers(0, len(photo) - 1))] = data.draw(st.integers(0, 255))
    photo = photo[: data.draw(st.integers(0, len(photo)))]
    part = find_embedded(BytesIO(photo), len(photo))
    assert part is None or (0 < part.start < part.stop <= len(photo) and photo[part.start + 4 :][:4] == b"ftyp")


def test_slices_are_one_file_of_their_own():
    source = BytesIO(b"0123456789")
    inner = open_slices(source, [Slice(1, 3), Slice(4, 4), Slice(7, 10)])
    assert inner.read() == b"12789"
    for step, at, read in (((-1, 2), 4, b"9"), ((1,), 1, b"2789"), ((9,), 9, b"")):
        assert (inner.seek(*step), inner.read(10)) == (at, read), step
    assert (inner.seek(1), inner.read(2)) == (1, b"27")
    with pytest.raises(OSError, match="before the beginning"):
        inner.seek(-6, 2)
    inner.close()
    assert not source.closed

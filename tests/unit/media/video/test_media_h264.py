"""User data left out of packets of H.264."""

import pytest

from photosvc.media.convert import length_bytes, without_user_data

PICTURE = b"\x65picture"
#: A point at which players may begin, and the times of a picture; both stay.
POINT, TIMES = b"\x06\x01\xc4", b"\x01\x02\x12\x34"
OWN, REGISTERED = b"\x05\x06secret", b"\x04\x06secret"
LONG = b"\x05\xff\x2d" + b"secret" * 50


def behind_lengths(*units, prefix=4):
    return b"".join(len(unit).to_bytes(prefix, "big") + unit for unit in units)


def behind_codes(*units, code=b"\0\0\0\1"):
    return b"".join(code + unit for unit in units)


def sei(*messages):
    return b"\x06" + b"".join(messages) + b"\x80"


def packets(*units):
    """The same units in each form, with the bytes of their lengths."""
    return [
        *(
            (behind_lengths(*units, prefix=prefix), prefix)
            for prefix in (1, 2, 4)
            if max(map(len, units)) < 1 << 7 * prefix
        ),
        (behind_codes(*units), 0),
        (behind_codes(*units, code=b"\0\0\1"), 0),
    ]


def alike(packet):
    return packet.replace(b"\0\0\0\1", b"\0\0\1")


@pytest.mark.parametrize("secret", [OWN, REGISTERED, LONG], ids=["own", "registered", "long"])
@pytest.mark.parametrize(
    ("before", "behind"), [((), ()), ((POINT,), ()), ((), (TIMES,)), ((POINT,), (TIMES,))], ids=str
)
def test_user_data_are_left_out_and_other_messages_stay(secret, before, behind):
    rest = [sei(*before, *behind)] if before or behind else []
    given, wanted = packets(sei(*before, secret, *behind), PICTURE), packets(*rest, PICTURE)
    for (packet, prefix), (expected, _) in zip(
        given, [one for one in wanted if one[1] in {p for _, p in given}], strict=True
    ):
        assert alike(without_user_data(packet, prefix)) == alike(expected)


def test_a_packet_without_user_data_is_returned_itself():
    for packet, prefix in packets(b"\x09\xf0", sei(POINT, TIMES), PICTURE):
        assert without_user_data(packet, prefix) is packet
    assert without_user_data(b"", 0) == without_user_data(b"", 4) == b""


def test_a_packet_of_user_data_alone_becomes_empty():
    for packet, prefix in packets(sei(OWN), sei(REGISTERED, OWN)):
        assert without_user_data(packet, prefix) == b""


def test_bytes_like_a_start_code_are_read_and_written_as_the_standard_says():
    held = b"\x01\x05\x00\x00\x03\x01\x09\x00\x00\x03"  # five bytes: 0 0 1 9 0, and the type 0 that follows
    unit = b"\x06" + b"\x05\x09\x00\x00\x03\x01secret" + held + b"\x01\x07\x80"
    (packet, prefix) = behind_lengths(unit, PICTURE), 4
    assert without_user_data(packet, prefix) == behind_lengths(b"\x06" + held + b"\x01\x07\x80", PICTURE)


@pytest.mark.parametrize(
    "unit", [b"\x06\x05\xff\xff\xffsecret", b"\x06\x01\x40secret", b"\x06\xff\xff", b"\x06\x05", b"\x06"]
)
def test_a_damaged_unit_is_left_out_if_its_message_has_no_end(unit):
    for packet, prefix in packets(unit, PICTURE):
        assert b"secret" not in without_user_data(packet, prefix)
        assert without_user_data(packet, prefix).endswith(PICTURE)


def test_a_packet_that_is_cut_off_is_read_to_its_end():
    packet = behind_lengths(PICTURE, sei(OWN))
    for size in range(len(packet)):
        assert b"secret" not in without_user_data(packet[:size], 4)


def test_the_form_of_units_stands_in_the_extra_data_of_the_stream():
    assert length_bytes(bytes.fromhex("0164000affe1")) == 4
    assert length_bytes(bytes.fromhex("0164000afde1")) == 2
    assert length_bytes(bytes.fromhex("0000000167")) == length_bytes(b"") == length_bytes(None) == 0

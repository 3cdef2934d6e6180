import pytest

from photosvc.media.metadata import camera_type, lens_name, lens_of_range


@pytest.mark.parametrize(
    ("make", "model", "kind"),
    [
        ("Canon", "EOS RP", "body"), ("NIKON", "D90", "body"), ("NIKON", "Z 6", "body"), ("SONY", "ILCE-6400", "body"),
        ("SONY", "SLT-A55V", "body"), ("PENTAX", "*ist DL", "body"), ("FUJIFILM", "FinePix S3Pro", "body"),
        ("Canon", "PowerShot G6", "compact"), ("NIKON", "COOLPIX S3100", "compact"), ("NIKON", "E995", "compact"),
        ("SONY", "FDMAVICA", "compact"), ("FUJIFILM", "X100V", "compact"), ("OLYMPUS", "C3000Z", "compact"),
        ("Apple", "iPhone 13 Pro", "phone"), ("samsung", "SM-G991B", "phone"), ("motorola", "moto g(9) plus", "phone"),
        ("Apple", "iPad Pro", "tablet"), ("samsung", "SM-T970", "tablet"), ("GoPro", "HERO7 Black", "action"),
        ("RICOH", "THETA V", "360-degree"), ("Epson", "Perfection V600", "scanner"),
        ("Canon", "CanoScan 9000F", "scanner"),
        ("NORITSU KOKI", "QSS-32_33", "film"), ("SONY", "HDR-CX405", "video"), ("", "", ""), ("TEKOM", "D30CC", ""),
    ],
)  # fmt: skip
def test_cameras_have_their_usual_kind(make, model, kind):
    assert camera_type(make, model) == kind


def test_lenses_are_named_by_their_limits():
    assert lens_of_range((18.0, 55.0, 3.5, 5.6)) == "18-55mm f/3.5-5.6"
    assert lens_of_range((50.0, 50.0, 1.8, 1.8)) == "50mm f/1.8"
    assert lens_of_range((24.0, 105.0, None, None)) == "24-105mm"
    assert lens_of_range((None, 0.0, None, None)) == ""
    assert lens_of_range(()) == ""


def test_the_filler_of_a_body_without_a_lens_is_no_lens():
    assert lens_name(b"----\0") == ""
    assert lens_name(b"RF35mm F1.8 MACRO IS STM\0\0") == "RF35mm F1.8 MACRO IS STM"

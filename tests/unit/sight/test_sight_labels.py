"""The labels of a picture, its preparation for the model, and the table of words."""

import re
from pathlib import Path

import pytest
from PIL import Image, ImageOps

import photosvc.samples
from photosvc.data import LABEL_MODEL
from photosvc.data.subjects import subjects
from photosvc.sight import labels
from photosvc.sight.labels import SightUnavailableError, check_model, score

BALLOONS = Path(photosvc.samples.__file__).parent / "originals/2022/valley-balloons.jpg"


def test_a_known_picture_has_its_known_score_by_the_middle_of_the_picture_alone():
    with Image.open(BALLOONS) as opened:
        picture = ImageOps.exif_transpose(opened).convert("RGB")
        ((word, sure), *others) = score(picture)
        wide = Image.new("RGB", (picture.width * 3, picture.height), "red")
        wide.paste(picture, (picture.width, 0))
    assert (word, others) == ("balloon", [])
    assert sure == pytest.approx(0.766, abs=0.03)  # processors differ in the last bits of integers
    assert score(wide)[0][1] == pytest.approx(sure, abs=0.03)


def test_each_class_has_a_number_and_each_subject_four_words_and_a_threshold():
    for subject in subjects().values():
        assert 1 <= len(subject.words) <= 4
        assert all(re.fullmatch(r"[\w ’-]+", word) for word in subject.words)
        assert 0.05 < subject.shown_from < 1
        assert set(subject.classes) <= set(range(1000))
        assert len(set(subject.classes)) == len(subject.classes) > 0
    assert len(subjects()) == 81


def test_a_damaged_model_and_a_missing_runtime_are_one_sentence(tmp_path, monkeypatch):
    damaged = tmp_path / "model.onnx"
    damaged.write_bytes(LABEL_MODEL.read_bytes()[:-1] + b"x")
    for path in (damaged, tmp_path / "missing.onnx"):
        with pytest.raises(SightUnavailableError, match=r"is damaged or missing: install photosvc again\."):
            check_model(path)
    check_model()
    monkeypatch.setattr(labels, "_RUNTIME", "no_such_module")
    with pytest.raises(SightUnavailableError, match=r"install photosvc\[labels\]"):
        check_model()

"""Figures for Prometheus."""

from tests.pictures import jpeg


def test_metrics_count_photos_by_type_and_files_that_are_gone_or_broken(library):
    library.put("one.jpg", jpeg())
    gone = library.put("gone.jpg", jpeg(80, 48))
    library.put("broken.jpg", jpeg(90, 48)[:400])
    library.index()
    gone.unlink()
    library.index()
    answer = library.get(path="/api/v1/metrics", token=library.token("metrics"))
    assert answer.status_code == 200
    assert answer.content_type == "text/plain; version=0.0.4; charset=utf-8"
    lines = answer.text.splitlines()
    assert 'photosvc_photos{type="image"} 1' in lines
    assert "photosvc_files 1" in lines
    assert "photosvc_files_missing 1" in lines
    assert "photosvc_files_broken 1" in lines
    assert "# TYPE photosvc_photos gauge" in lines


def test_a_token_for_photos_reads_no_metrics(library):
    assert library.get(path="/api/v1/metrics", token=library.token("photos")).status_code == 403

"""Routes at the start of the service."""

from flask import url_for
from werkzeug.routing import Rule

from photosvc import extension
from photosvc.app import create_app
from photosvc.mounting import mount


def test_a_new_app_compiles_what_builds_a_url_with_the_first_one(tmp_path, monkeypatch):
    compiled, compile_builder = [], Rule._compile_builder

    def note(rule, append_unknown=True):
        compiled.append(rule.rule)
        return compile_builder(rule, append_unknown)

    monkeypatch.setattr(extension, "mount", mount)
    monkeypatch.setattr(Rule, "_compile_builder", note)
    app = create_app(instance=tmp_path, environ={})
    assert compiled == []
    with app.test_request_context():
        built = [url_for("photosvc.search.search_photos", rule=name, count=3) for name in ("a", "b")]
    assert built == ["/api/v1/photos?rule=a&count=3", "/api/v1/photos?rule=b&count=3"]
    assert compiled == ["/api/v1/photos"]

"""The page of the API: Swagger UI, or the document alone."""

import re
import sys


def test_swagger_ui_shows_the_document_of_this_service(browser):
    page = browser.open("/api-docs")
    assert (page.status_code, 'data-document="/api/v1/openapi.json"' in page.text) == (200, True)
    assert "img-src 'self' data:;" in page.headers["Content-Security-Policy"]
    for address in re.findall(r'(?:src|href)="([^"]+)"', page.text):
        with browser.open(address) as answer:
            assert answer.status_code == 200, address
    assert browser.open("/api-docs/..%2f__init__.py").status_code == 404


def test_without_the_extra_the_document_itself_is_shown(browser, monkeypatch):
    monkeypatch.setitem(sys.modules, "flask_swagger_ui", None)
    page = browser.open("/api-docs")
    assert (page.status_code, page.headers["Location"]) == (303, "/api/v1/openapi.json")
    assert browser.open("/api-docs/swagger-ui.css").status_code == 404

"""The OpenAPI document as a whole."""

from urllib.parse import urlencode

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator
from referencing import Registry

from tests.app.serving import test_openapi as everyday

api, document = everyday.api, everyday.document


@pytest.fixture
def searched_once(monkeypatch):
    """Schemas are searched once for their anchors, and not again for each reference to one."""
    search, known = Registry.crawl, {}

    def crawl(registry):
        if id(registry) not in known:
            known[id(registry)] = registry, search(registry)
        return known[id(registry)][1]

    monkeypatch.setattr(Registry, "crawl", crawl)


@pytest.mark.usefixtures("searched_once")
def test_it_is_valid_openapi(document):
    assert document["openapi"] == "3.1.0"
    assert list(OpenAPIV31SpecValidator(document).iter_errors()) == []


def test_of_a_repeated_parameter_the_last_value_counts(api, document):
    token, tried = api.session_of("ann"), 0
    values = {"q": "lake", "filter": "lake", "count": "5", "offset": "1", "order": "oldest", "seed": "7"}

    def answer(*given):
        found = api.call("GET", "/photos?" + urlencode([(name, value) for value in given]), token)
        return found.status_code, found.json

    for parameter in document["paths"]["/photos"]["get"]["parameters"]:
        name = parameter["name"]
        value = str(values.get(name) or parameter.get("example") or "true")
        alone, other = answer(value), answer("x")
        assert (answer("x", value), answer(value, "x"), answer("x", value, "")) == (alone, other, alone), name
        tried += alone != other
    assert tried > 60

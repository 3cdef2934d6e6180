"""photosvc beside Flask-Babel: each has its own texts, language and template functions."""

import pytest
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from flask import render_template_string

from tests.app.embed.host import open_host

flask_babel = pytest.importorskip("flask_babel", reason="needs the extra `test`")
OWN = {"Sec-Fetch-Site": "same-origin", "Accept-Language": "de"}
PAGE = '{{ _("Sign in") }} {{ gettext("Photos") }} {{ _("Hello %(name)s", name="<b>") }}'


@pytest.fixture
def host(tmp_path):
    """A host whose pages are always French, with a text that photosvc has too."""
    texts = Catalog(locale="fr")
    texts.add("Sign in", "Entrez")
    texts.add("Hello %(name)s", "Bonjour %(name)s")
    folder = tmp_path / "translations" / "fr" / "LC_MESSAGES"
    folder.mkdir(parents=True)
    with (folder / "messages.mo").open("wb") as file:
        write_mo(file, texts)

    def prepare(app):
        flask_babel.Babel(
            app, default_translation_directories=str(tmp_path / "translations"), locale_selector=lambda: "fr"
        )
        app.add_url_rule("/page", "page", lambda: render_template_string(PAGE))

        @app.context_processor
        def of_the_host():
            return {"language": "none", "grouped": None}

    with open_host(tmp_path / "host", prepare=prepare) as app:
        yield app


def test_pages_and_the_host_keep_their_own_language(host):
    client, expected = host.test_client(), "Entrez Photos Bonjour &lt;b&gt;"
    assert client.get("/page", headers=OWN).text == expected
    page = client.get("/media/sign-in", headers=OWN)
    if page.status_code == 303:  # a library without accounts
        page = client.get(page.location, headers=OWN)
    assert '<html lang="de">' in page.text
    assert "Zum Inhalt springen" in page.text
    assert "Entrez" not in page.text
    assert client.get("/page", headers=OWN).text == expected


def test_the_templates_of_the_host_keep_their_functions_and_globals(host):
    before = dict(host.jinja_env.globals), set(host.jinja_env.filters), set(host.jinja_env.extensions)
    host.test_client().get("/media/sign-in", headers=OWN, follow_redirects=True)
    assert (dict(host.jinja_env.globals), set(host.jinja_env.filters), set(host.jinja_env.extensions)) == before
    assert "grouped" not in before[0]

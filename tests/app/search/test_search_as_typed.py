"""Searching as people type: requests and the photos that they find."""

import pytest
from sqlalchemy import select

from photosvc.models import Photo
from tests.helpers.clock import NOW
from tests.helpers.factories.photos import edit_photos
from tests.helpers.factories.typed_library import CLIP, EVERY, IMG, NIGHT, PARK, fill_typed_library
from tests.helpers.library import open_library


@pytest.fixture(scope="module")
def typed_library(tmp_path_factory):
    library = open_library(tmp_path_factory.mktemp("typed"))
    with library.session() as session:
        fill_typed_library(session, NOW)
    yield library
    library.close()


def found(library, **parameters):
    return {record["FileName"] for record in library.find(token=library.token(role="admin"), **parameters)}


def refusal(library, query):
    answer = library.get({"q": query})
    assert answer.status_code == 400, answer.text
    return answer.json["details"][0]["message"]


def test_the_library_has_these_photos(typed_library):
    assert found(typed_library) == EVERY


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("year:>2020", {PARK}),
        ("year:>=2020", {NIGHT, PARK}),
        ("year:<2020", {IMG}),
        ("year:<=2020", {IMG, NIGHT}),
        ("year:2020..2023", {NIGHT, PARK}),
        ("year:2020..", {NIGHT, PARK}),
        ("year:..2019", {IMG}),
        ("iso:>=800", {NIGHT, PARK}),
        ("iso:>800", {PARK}),
        ("f:<2.8", {IMG}),
        ("f:<=2.8", {IMG, NIGHT}),
        ("f:>1.8", {NIGHT}),
        ("f:>=1.8", {IMG, NIGHT}),
        ("f:1.5..2", {IMG}),
        ("taken:>2020-12-24", {PARK}),
        ("taken:<2020-12-24", {IMG}),
        ("taken:>=2020-12-24", {NIGHT, PARK}),
        ("taken:<=2020-12", {IMG, NIGHT}),
        ("taken:2019-07..2020", {IMG, NIGHT}),
        ("added:>=2000", EVERY),
        ("added:>2030-05", set()),
        ("alt:<0", {NIGHT}),
        ("alt:>=250", {IMG}),
        ("year:<2020|>2020", {IMG, PARK}),
        ("month:july", {IMG, PARK}),
        ("month:Jul", {IMG, PARK}),
        ("month:august-december", {NIGHT}),
        ("month:june..aug", {IMG, PARK}),
        ("month:!july", {NIGHT}),
    ],
)
def test_comparisons_and_two_dots_are_ranges(typed_library, query, names):
    assert found(typed_library, q=query) - {CLIP} == names - {CLIP}


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("f:-4", {IMG, NIGHT}),
        ("f:0-4", {IMG, NIGHT}),
        ("mm:-4000", {IMG, NIGHT}),
        ("iso:0-200", {IMG}),
        ("alt:*-1000", {IMG, NIGHT}),
        ("alt:-10-1000", {IMG, NIGHT}),
        ("alt:0", {PARK, CLIP}),
        ("iso:0", {CLIP}),
    ],
)
def test_an_unknown_number_is_in_no_range(typed_library, query, names):
    assert found(typed_library, q=query) == names


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (
            "lake iso:>>5",
            'iso: ">>5" is not a number or a range such as 100-400, 100- or <=400 (character 10)',
        ),
        ("month:jully", 'month: "jully" is not a month such as 7, july or jul, or a range such as june-august'),
        ("iso:<1", 'iso: "<1" is not a number or a range'),
        ("added:<2020", 'added: "<2020" is not a day such as 2023-05-01'),
    ],
)
def test_what_is_no_range_is_refused_with_its_place(typed_library, query, message):
    assert refusal(typed_library, query).startswith(message)


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("flowers", {IMG}),
        ("label:flowers", {IMG}),
        ("flower", {IMG}),
        ("city", {NIGHT}),
        ("star", {NIGHT}),
        ("box", {PARK}),
        ("label:cat", {IMG}),
        ("label:cats", {IMG}),
        ("label:cat*", {IMG, CLIP}),
        ("keywords:cat", {IMG, CLIP}),
        ('"boat"', set()),
        ("boat", {PARK, CLIP}),
    ],
)
def test_plurals_and_singulars_stand_for_each_other(typed_library, query, names):
    assert found(typed_library, q=query) == names


@pytest.mark.parametrize(
    ("name", "value", "names"),
    [
        ("label", "!cat", {NIGHT, PARK, CLIP}),
        ("label", "cat&!flower", set()),
        ("keywords", "cat*|blue&!flower", {CLIP}),
        ("title", "!lake", {NIGHT, PARK, CLIP}),
        ("title", "-lake|-cities", {PARK, CLIP}),
        ("name", "-img_*", {NIGHT, PARK, CLIP}),
        ("color", "!blue|!black", {PARK, CLIP}),
        ("iso", "!100|!3200", {NIGHT, CLIP}),
        ("people", "!jane", {NIGHT, PARK, CLIP}),
        ("is", "video|!geo", {CLIP}),
    ],
)
def test_operators_mean_the_same_inside_quotes_and_in_parameters(typed_library, name, value, names):
    assert found(typed_library, q=f"{name}:{value}") == names
    assert found(typed_library, q=f'{name}:"{value}"') == names
    assert found(typed_library, **{name: value}) == names
    assert found(typed_library, **{name: f'"{value}"'}) == names


def test_a_sign_behind_a_backslash_is_text(typed_library):
    assert found(typed_library, q=r'title:"\!lake"') == {IMG}
    assert found(typed_library, q=r'name:"\-*"') == set()


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("family in summer", {PARK}),
        ("photos of arezzo", {IMG}),
        ("the lake at dawn", {IMG}),
        ("the", {IMG, CLIP}),
        ('"the" boats', {CLIP}),
    ],
)
def test_little_words_are_left_out_beside_others(typed_library, query, names):
    assert found(typed_library, q=query) == names


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("videos", {CLIP}),
        ("blue", {IMG, CLIP}),
        ("photos", EVERY - {CLIP}),
        ("raw", set()),
        ("-videos", EVERY - {CLIP}),
        ('"blue"', {CLIP}),
        ("f/1.8", {IMG}),
        ("2019..2020", {IMG, NIGHT, CLIP}),
    ],
)
def test_a_magic_word_also_means_its_filter(typed_library, query, names):
    assert found(typed_library, q=query) == names


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("NOT lake", {NIGHT, CLIP}),
        ("lake NOT summer", {IMG}),
        ("NOT (lake OR stars)", {CLIP}),
        ("lake AND NOT color:blue", {PARK}),
    ],
)
def test_not_in_capitals_excludes(typed_library, query, names):
    assert found(typed_library, q=query) == names


def test_a_word_with_an_operator_is_refused_with_a_hint(typed_library):
    hint = '"iso>800" is neither a word nor a filter; did you mean iso:>800? (character 6)'
    assert refusal(typed_library, "lake iso>800") == hint


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("ext:png", {PARK}),
        ("ext:JPG", {IMG, NIGHT}),
        ("ext:!jpg|!png", {CLIP}),
        ("date:2019-07", {IMG}),
        ("tag:flower", {IMG}),
        ("tags:stars", {NIGHT}),
        ("is:video", {CLIP}),
        ("is:!video", EVERY - {CLIP}),
        ("has:geo", {IMG, NIGHT, PARK}),
        ("has:title", {IMG, NIGHT, CLIP}),
        ("has:!title", {PARK}),
        ("country:japan", {NIGHT}),
        ("country:Italy|de", {IMG, PARK}),
        ("*boat*", {PARK, CLIP}),
        ("camera:*iPhone*", {IMG}),
        ("한강", {PARK}),
    ],
)
def test_names_that_people_expect_are_filters(typed_library, query, names):
    assert found(typed_library, q=query) == names


def test_the_same_holds_for_parameters(typed_library):
    assert found(typed_library, lens="*4.15mm") == {IMG}
    assert found(typed_library, lens='"*4.15mm"') == {IMG}
    assert found(typed_library, has="geo", ext="png") == {PARK}
    assert found(typed_library, year="> 2019") == {NIGHT, PARK, CLIP}


def test_hints_are_given_only_when_they_are_close(typed_library):
    assert refusal(typed_library, "contry:de") == 'unknown filter "contry"; did you mean "country"? (character 1)'
    assert refusal(typed_library, "zebra:de") == 'unknown filter "zebra" (character 1)'
    assert "did you mean" not in refusal(typed_library, "country:atlantis")
    assert refusal(typed_library, "is:favorit").endswith('did you mean "favorite"? (character 4)')


def test_filter_is_a_scope_of_the_query(typed_library):
    assert found(typed_library, q="lake", filter="iso:>=800") == {PARK}
    assert found(typed_library, q="title:lake", filter="title:cities") == set()
    assert found(typed_library, iso="100", filter="iso:800") == set()


def test_the_order_may_stand_in_the_query(typed_library):
    oldest = typed_library.find(order="oldest")
    assert typed_library.find(q="order:oldest") == oldest != typed_library.find()
    assert typed_library.find(q="order:oldest is:!video", order="newest") == [
        one for one in oldest if one["Type"] == "image"
    ]
    answer = typed_library.get({"q": "order:newset"})
    assert (answer.status_code, answer.json["details"][0]["field"]) == (400, "q")
    assert answer.json["error"] == "order 'newset' is unknown: did you mean newest?"


def outcome(library, query):
    """The message without its position, or the files that are found."""
    answer = library.get({"q": query, "quality": 7})
    return answer.json["error"].partition(" (")[0] if answer.status_code == 400 else [one["UID"] for one in answer.json]


@pytest.mark.parametrize(
    ("words", "signs"),
    [
        ("lake or order:name", "lake | order:name"),
        ("order:name or lake", "order:name | lake"),
        ("lake and order:name", "lake & order:name"),
        ("lake not order:name", "lake -order:name"),
        ("lake or quality:0", "lake | quality:0"),
        ("quality:0 and lake", "quality:0 & lake"),
        ("lake without quality:0", "lake -quality:0"),
    ],
)
def test_words_are_the_same_operators_as_signs_beside_an_order_and_a_filter_without_effect(typed_library, words, signs):
    assert outcome(typed_library, words) == outcome(typed_library, signs)


def test_exposures_are_found_in_any_case(typed_library):
    (there,) = typed_library.find(q="ext:png")
    with typed_library.session() as session:
        photo = session.scalars(select(Photo).where(Photo.uid == there["UID"])).one()
        edit_photos(session, [photo.id], exposure="2\u00bd S\u00c9C")
    for query in ('exposure:"2\u00bd s\u00e9c"', "exposure:2\u00bd*", 'exposure:"2\u00bd S\u00c9C"', "shutter:*sec"):
        assert found(typed_library, q=query) == {PARK}, query


def test_a_distance_of_0_is_not_set(typed_library):
    (there,) = typed_library.find(q="ext:png")
    near = f"near:{there['UID']}"
    for query in (f"{near} dist:0", f"{near}@0", f"{near} dist:0.0", near):
        assert found(typed_library, q=query) == {PARK}, query
    assert found(typed_library, near=there["UID"], dist="0") == {PARK}
    assert found(typed_library, dist="0") == EVERY
    assert found(typed_library, lat=there["Lat"], lng=there["Lng"], dist=0) == {PARK}


def test_quoted_blanks_stay(typed_library):
    assert found(typed_library, name='"night"') == found(typed_library, name=" night ") == {NIGHT}
    assert found(typed_library, name='" night"') == found(typed_library, q='name:"night "') == set()


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("IMG_3615.JPG", {IMG}),
        ("img_3615", {IMG}),
        ('"3615.jpg"', {IMG}),
        ("mp4", {CLIP}),
        ("night.png", set()),
    ],
)
def test_a_file_is_found_by_its_name_with_the_extension(typed_library, query, names):
    assert found(typed_library, q=query) == names


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("🎉", {IMG}),
        ("family 🎉", {IMG}),
        ("🎈", set()),
        ("-🎉", EVERY - {IMG}),
        ('description:"🎉"', {IMG}),
    ],
)
def test_an_emoji_is_a_word(typed_library, query, names):
    assert found(typed_library, q=query) == names


@pytest.mark.parametrize(
    ("parameters", "names"),
    [
        ({"faces": "yes"}, {IMG, NIGHT}),
        ({"faces": "1"}, {IMG, NIGHT}),
        ({"faces": "2"}, {IMG}),
        ({"faces": "no"}, {PARK, CLIP}),
        ({"q": "faces:0-1"}, {NIGHT, PARK, CLIP}),
        ({"q": "has:faces"}, {IMG, NIGHT}),
        ({"q": "faces"}, {IMG, NIGHT}),
        ({"face": "x"}, set()),
        ({"category": "x"}, set()),
        ({"q": "face:x"}, set()),
        ({"q": "category:x | ext:png"}, {PARK}),
        ({"q": "-category:x"}, EVERY),
    ],
)
def test_faces_are_counted_and_what_is_not_recorded_matches_nothing(typed_library, parameters, names):
    assert found(typed_library, **parameters) == names


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("title:lake", {IMG}),
        ("title:dawn", {IMG}),
        ("title:city", {NIGHT}),
        ('title:"lake at"', {IMG}),
        ('title:"at lake"', set()),
        ('title:"*ake at*"', {IMG}),
        ("title:lake*", {IMG}),
        ("title:*night", {NIGHT}),
        ("title:false", {PARK}),
        ('title:""', {PARK}),
        ("title:true", EVERY - {PARK}),
        ("title:!lake", EVERY - {IMG}),
        ("title:lake|false", {IMG, PARK}),
        ("description:lake", {PARK}),
        ("description:boat", {PARK, CLIP}),
        ('description:"*in summer*"', {PARK}),
        ("description:false", {NIGHT}),
        ('description:""', {NIGHT}),
        ("caption:boats", {PARK, CLIP}),
    ],
)
def test_words_in_titles_and_descriptions_match(typed_library, query, names):
    assert found(typed_library, q=query) == names


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("rating:5", {IMG}),
        ("rating:3-", {IMG, NIGHT}),
        ("rating:>3", {IMG}),
        ("rating:-1", {PARK}),
        ("rating:0", {CLIP}),
        ("rating:<4", {NIGHT, PARK}),
        ("has:rating", {IMG, NIGHT}),
        ("width:>=1920", {IMG, CLIP}),
        ("height:480", {PARK}),
        ("size:>5mb", {IMG, CLIP}),
        ("size:5.2mb", {IMG}),
        ("size:..1MiB", {NIGHT, PARK}),
        ("place:tuscany", {IMG}),
        ("location:Japan", {NIGHT}),
        ('place:"Arezzo"', {IMG}),
        ("place:flower", set()),
    ],
)
def test_stars_sizes_and_places_are_filters(typed_library, query, names):
    assert found(typed_library, q=query) == names


def test_stars_are_a_field_and_a_facet(typed_library):
    stars = {record["FileName"]: record.get("Rating") for record in typed_library.find()}
    assert stars == {IMG: 5, NIGHT: 3, PARK: -1, CLIP: None}
    facets = typed_library.get("by=rating", path="/api/v1/photos/facets").json["rating"]
    assert sorted((one["value"], one["label"], one["count"]) for one in facets) == [
        (-1, "-1", 1), (0, "0", 1), (3, "3", 1), (5, "5", 1),
    ]  # fmt: skip


def test_orders_of_other_clients_are_known(typed_library):
    assert typed_library.find(order="imported") == typed_library.find(order="added")
    assert typed_library.find(order="archived") == typed_library.find(order="added")
    assert typed_library.get({"order": "nosuch"}).status_code == 400


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("near:tokyo", {NIGHT}),
        ("near:Tokyo,Japan", {NIGHT}),
        ('near:"munich, Germany"@5', {PARK}),
        ("near:munich|arezzo", {IMG, PARK}),
        ("near:munich dist:1", set()),
        ("near:munich dist:600", {IMG, PARK}),
        ("-near:tokyo", EVERY - {NIGHT}),
        ('near:"new york"', set()),
        ("near:Zurich", set()),
    ],
)
def test_a_place_may_be_named(typed_library, query, names):
    assert found(typed_library, q=query) == names


@pytest.mark.parametrize(
    ("query", "status", "message"),
    [
        ("near:Tokyyo", 404, 'there is no place "tokyyo"; did you mean "tokyo"?'),
        ("near:nosuchplace", 404, 'there is no place "nosuchplace"'),
        ('near:"Munich, Japan"', 404, 'there is no place "munich, japan"'),
        ("near:albion", 400, "there are 10 places"),
        ("near:a|b|c|d|e", 400, "near names more than 4 places"),
        ("near:12345", 400, 'near: "12345" is not the UID of a photo, or the name of a place'),
        (f"near:{'x' * 121}", 400, "near: "),
    ],
)
def test_a_place_that_is_unknown_is_said_so(typed_library, query, status, message):
    answer = typed_library.get({"q": query})
    assert answer.status_code == status, answer.text
    assert answer.json["error"].startswith(message)


@pytest.mark.parametrize(
    ("parameters", "header"),
    [
        ("limit=5&page=2&sort=newest", "limit (count), page (offset), sort (order)"),
        ("coutn=5", "coutn (count)"),
        ("Count=5&contry=de", "Count (count), contry (country)"),
        ("count=5&offset=0&order=added&is=raw&extension=jpg&folder=x&reverse=false", None),
        ("utm_source=x&_=17", None),
        ("limit%0d%0aX-Evil:1=5", None),
        ("&".join(f"limi{n}=1" for n in range(200)) + "&sort=x", "sort (order)"),
        ("limit=1&limit=2", "limit (count)"),
    ],
)
def test_parameters_that_are_ignored_are_named_when_they_are_like_known_ones(typed_library, parameters, header):
    answer = typed_library.get(parameters)
    assert answer.status_code == 200
    assert answer.headers.get("X-Unknown-Parameters") == header

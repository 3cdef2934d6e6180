"""GET /photos/timeline: months, columns and photos agree with each other and with plain Python."""

import gzip
import random
from collections import Counter
from itertools import groupby

import orjson
import pytest
from hypothesis import HealthCheck, assume, example, given
from hypothesis import strategies as st
from sqlalchemy import update

from photosvc.core.vocabulary import TYPES
from photosvc.models import SearchRow
from photosvc.search.reading.timeline import to_columns
from photosvc.search.rows.write import project
from tests.databases.search.query_model import Matcher, shown
from tests.databases.search.query_strategies import QUERIES
from tests.databases.search.varied_library import fill_varied_library, uid
from tests.helpers.examples import examples
from tests.helpers.library import open_library
from tests.helpers.parsing import parse_node

PATH = "/api/v1/photos/timeline"
QUICK = examples(250, everyday=5, suppress_health_check=list(HealthCheck))


@pytest.fixture(scope="module")
def varied(tmp_path_factory):
    library = open_library(tmp_path_factory.mktemp("timeline"))
    with library.session() as session:
        session.expire_on_commit = False
        photos, albums = fill_varied_library(session, photos=60)
        photos[5].day = photos[6].day = -1  # the month is known, the day is not
        photos[7].taken_at = photos[8].taken_at
        project(session, [photo.id for photo in photos[5:9]])
        session.commit()
    yield library, photos, albums, {
        True: library.token("*", role="admin"), False: library.token("*", role="viewer"),
    }  # fmt: skip
    library.close()


def months(library, token=None, **parameters):
    return answered(library.get(parameters, path=PATH, token=token))


def month(library, name, token=None, **parameters):
    """The columns of a month, or of the months between two in a text such as `2012-05..2014-07`."""
    path = f"between/{name.replace('..', '/')}" if ".." in name else f"months/{name}"
    return answered(library.get(parameters, path=f"{PATH}/{path}", token=token))


def photos_of(library, name, token=None, **parameters):
    return answered(library.get(parameters, path=f"{PATH}/months/{name}/photos", token=token))["photos"]


def answered(answer):
    assert answer.status_code == 200, answer.text
    return answer.json


def expected_order(photos, albums, query, *, sees_private, oldest_first):
    """(month, day, photo, file) of every photo that matches, in order, in plain Python."""
    node, matcher = parse_node([("q", query)]), Matcher(photos, albums, sees_private=sees_private)
    found = []
    for photo in photos:
        files = sorted(photo.files, key=lambda file: (not file.primary, file.id))
        matching = [f for f in files if shown(f, node, sees_private=sees_private) and matcher.matches(node, f)]
        if matching:
            dated = photo.year > 0 and photo.month > 0
            day = (photo.year, photo.month, max(photo.day, 0)) if dated else (0, 0, 0)
            found.append((day, photo.taken_at, photo.id, photo, matching[0]))
    found.sort(key=lambda entry: entry[:3], reverse=not oldest_first)
    found.sort(key=lambda entry: entry[0] == (0, 0, 0))
    return [(f"{day[0]:04}-{day[1]:02}", day[2], photo, file) for day, _, _, photo, file in found]


def check(varied, query, sees_private, oldest_first):
    library, photos, albums, tokens = varied
    parameters = {"q": query, "order": "oldest" if oldest_first else "newest"}
    first = library.get(parameters, path=PATH, token=tokens[sees_private])
    assume(first.status_code not in {400, 404})
    assert first.status_code == 200, first.text
    expected = expected_order(photos, albums, query, sees_private=sees_private, oldest_first=oldest_first)
    by_month = [(name, list(rows)) for name, rows in groupby(expected, key=lambda row: row[0])]
    assert first.json["months"] == [[name, len(rows)] for name, rows in by_month]
    assert first.json["total"] == len(expected)
    found = {record["UID"] for record in library.find(q=query, count=1000, merged="true", token=tokens[sees_private])}
    assert len(found) == first.json["total"]
    alone = []
    for name, rows in by_month:
        columns = month(library, name, tokens[sees_private], **parameters, version=first.json["version"])
        assert columns["days"] == [[day, len(list(same))] for day, same in groupby(row[1] for row in rows)]
        assert columns["ratio"] == [round(file.width / file.height * 100) for *_, file in rows]
        assert columns["color"] == "".join(f"{photo.color:x}" for *_, photo, _ in rows)
        assert columns["type"] == "".join(str(TYPES.index(photo.type)) for *_, photo, _ in rows)
        shown_there = photos_of(library, name, tokens[sees_private], **parameters, n=500)
        assert [(entry["uid"], entry["hash"]) for entry in shown_there] == [(p.uid, f.hash) for *_, p, f in rows]
        alone.append({**columns, "photos": shown_there})
    dated = [{name: value for name, value in entry.items() if name != "version"} for entry in alone]
    dated = [entry for entry in dated if entry["month"] != "0000-00"]
    if dated:
        between = f"{dated[0]['month']}..{dated[-1]['month']}"
        assert month(library, between, tokens[sees_private], **parameters)["months"] == dated


@QUICK
@given(query=QUERIES, sees_private=st.booleans(), oldest_first=st.booleans())
@example(query="", sees_private=False, oldest_first=False)
@example(query="codec:heic | lake", sees_private=True, oldest_first=True)
@example(query="error:true", sees_private=True, oldest_first=False)
@example(query="type:raw", sees_private=False, oldest_first=True)
@example(query='-"over the lake" -dawn', sees_private=True, oldest_first=True)
@example(query="-keywords:lake (-lak | type:raw)", sees_private=False, oldest_first=False)
def test_every_photo_of_any_query_is_at_exactly_one_position(varied, query, sees_private, oldest_first):
    check(varied, query, sees_private, oldest_first)


def test_pages_of_positions_are_slices_of_the_month(varied):
    library = varied[0]
    for order, query in (("newest", ""), ("oldest", "lake")):
        found = months(library, q=query, order=order)["months"]
        assert found, order
        for name, count in found:
            whole = photos_of(library, name, q=query, order=order, n=500)
            assert len(whole) == count, order
            for start in range(0, count + 2, 5):
                page = photos_of(library, name, q=query, order=order, n=5, **{"from": start})
                assert page == whole[start : start + 5], order


def test_private_hidden_and_archived_photos_are_never_counted_for_viewers(varied):
    library, photos, _, tokens = varied
    for query in ("", "hidden:true", "archived:true", "private:true", "error:true | lake"):
        found = months(library, tokens[False], q=query)["months"]
        uids = {entry["uid"] for name, _ in found for entry in photos_of(library, name, tokens[False], q=query, n=500)}
        secret = {photo.uid for photo in photos if photo.private or photo.archived_at or photo.quality < 0}
        assert not uids & secret
    assert months(library, tokens[True], q="private:true")["total"] > 0
    assert months(library, tokens[False], q="private:true")["total"] == 0


def test_an_album_and_filters_as_parameters_apply_to_all_three(varied):
    library = varied[0]
    for parameters in ({"s": uid("a", 0)}, {"color": "blue|red|green"}, {"filter": "type:image", "favorite": "true"}):
        found = months(library, **parameters)
        uids = [entry["uid"] for name, _ in found["months"] for entry in photos_of(library, name, n=500, **parameters)]
        searched = {record["UID"] for record in library.find(count=1000, merged="true", **parameters)}
        assert found["total"] == len(uids) == len(searched) > 0
        assert set(uids) == searched
        assert sum(len(month(library, name, **parameters)["ratio"]) for name, _ in found["months"]) == len(uids)


def test_photos_without_a_month_come_last_in_both_orders_and_photos_without_a_day_are_in_their_month(varied):
    library = varied[0]
    names = {order: [name for name, _ in months(library, order=order)["months"]] for order in ("newest", "oldest")}
    assert names == {"newest": ["2020-01", "0000-00"], "oldest": ["2020-01", "0000-00"]}
    days = month(library, "2020-01")["days"]
    assert [day for day, _ in days] == sorted({day for day, _ in days}, reverse=True)
    assert [day for day, _ in month(library, "2020-01", order="oldest")["days"]] == sorted(day for day, _ in days)
    assert {day for day, _ in month(library, "0000-00")["days"]} == {0}


def test_a_month_without_photos_is_empty_and_a_picture_of_unknown_size_a_square(varied):
    empty = month(varied[0], "1815-06")
    del empty["version"]
    assert empty == {"month": "1815-06", "days": [], "ratio": [], "color": "", "type": ""}
    assert photos_of(varied[0], "1815-06") == []
    unknown = to_columns([(1, 20231018, 0.0, 7, "image"), (2, 20231017, 1.78, 99, "odd")])
    assert unknown == {"days": [(18, 1), (17, 1)], "ratio": [100, 178], "color": "70", "type": "00"}


def test_the_columns_of_21000_photos_take_at_most_two_bytes_a_photo():
    draw, size = random.Random(3), 21_000
    days = sorted((20261000 + draw.randrange(1, 32) for _ in range(size)), reverse=True)
    ratios = draw.choices((1.33, 0.75, 1.78, 0.56, 1.5, 0.67, 1.0, 1.25, 2.4), (40, 25, 9, 8, 6, 4, 4, 2, 2), k=size)
    colors = draw.choices(range(16), (9, 14, 9, 5, 8, 2, 9, 3, 4, 6, 3, 3, 2, 5, 4, 2), k=size)
    types = draw.choices(TYPES[:5], (60, 5, 25, 9, 1), k=size)
    body = orjson.dumps(to_columns(list(zip(range(size), days, ratios, colors, types, strict=True))))
    packed = len(gzip.compress(body, 6)) / size
    assert packed < 2, packed


@pytest.fixture
def own(tmp_path):
    library = open_library(tmp_path)
    with library.session() as session:
        photos, _ = fill_varied_library(session, photos=12)
        ids = [photo.id for photo in photos]
    yield library, ids
    library.close()


def test_an_answer_has_a_version_and_a_tag_until_the_library_changes(own):
    library, ids = own
    client, token = library.app.test_client(), {"X-Auth-Token": library.token(role="admin")}
    before, paths = months(library)["version"], (PATH, f"{PATH}/months/2020-01", f"{PATH}/months/2020-01/photos")
    assert {answered(library.get({"version": before}, path=path))["version"] for path in paths} == {before}
    tags = {}
    for path in (*paths, f"{PATH}/months/2020-01/photos?from=1", f"{PATH}?q=lake"):
        tags[path] = client.get(path, headers=token).headers["ETag"]
        assert client.get(path, headers={**token, "If-None-Match": tags[path]}).status_code == 304, path
    assert len(set(tags.values())) == len(tags)
    with library.session() as session:
        project(session, ids[:1])
    assert client.get(PATH, headers={**token, "If-None-Match": tags[PATH]}).status_code == 200
    for path in paths:
        refused = library.get({"version": before}, path=path)
        assert (refused.status_code, refused.json["details"][0]["field"]) == (409, "version")
        assert "ETag" not in refused.headers
    assert library.get({"version": months(library)["version"]}, path=PATH).status_code == 200
    assert library.get({"version": "x" * 3000}, path=PATH).status_code == 409


def test_a_photo_shows_the_values_of_its_record(own):
    library, _ = own
    records = {record["UID"]: record for record in library.find(count=100, primary="true")}
    with library.session() as session:
        session.execute(update(SearchRow).values(duration=2_500_000_000))
        session.commit()
    found = [entry for name, _ in months(library)["months"] for entry in photos_of(library, name)]
    for entry in found:
        record = records[entry["uid"]]
        assert entry["text"] == (record["Title"] or record["Description"] or record["Name"])
        assert (entry["favorite"], entry["private"]) == (record["Favorite"], record["Private"])
        assert (entry["width"], entry["height"]) == (record["Width"], record["Height"])
        assert entry["duration"] == 2_500_000_000
    assert Counter(entry["favorite"] for entry in found).keys() == {True, False}


def test_the_ratio_is_of_the_upright_picture(pictures):
    library = pictures.library
    shown_there = {
        entry["hash"]: ratio
        for name, _ in months(library)["months"]
        for entry, ratio in zip(photos_of(library, name, n=500), month(library, name)["ratio"], strict=True)
    }
    found = {number: shown_there[pictures.hash_of(f"turned-{number}.jpg")] for number in range(1, 9)}
    assert found == {1: 133, 2: 133, 3: 133, 4: 133, 5: 75, 6: 75, 7: 75, 8: 75}
    assert shown_there[pictures.hash_of("small.png")] == 150


def test_a_bad_value_is_refused_by_name(varied):
    for path, parameters, field in (
        *(
            (f"/months/{name}", {}, "month")
            for name in ("2020", "2020-13", "2020-00", "2020-1", "20-01", "0000-01", "now")
        ),
        *((f"/months/{name}", {}, "month") for name in ("2020-01-02", "２０２０-01", "2020-01%0A", "%00", "x" * 500)),
        ("/months/2020-1/photos", {}, "month"),
        *(
            ("/months/2020-01/photos", {"from": text}, "from")
            for text in ("-1", "x", "1.5", "2147483648", "9" * 30, "٣")
        ),
        *(("/months/2020-01/photos", {"n": text}, "n") for text in ("0", "501", "-1", "1e2", "\0")),
        *(
            (path, {"order": text}, "order")
            for path in ("", "/months/2020-01", "/months/2020-01/photos")
            for text in ("added", "x")
        ),
        ("", {"q": "nosuch:1"}, "q"),
        ("/months/2020-01", {"color": "mauve"}, "color"),
    ):
        answer = varied[0].get(parameters, path=PATH + path)
        assert answer.status_code == 400, answer.text
        assert [detail["field"] for detail in answer.json["details"]] == [field], path


def test_an_album_that_does_not_exist_or_is_private_is_not_found(varied):
    library, _, _, tokens = varied
    for path in ("", "/months/2020-01", "/months/2020-01/photos"):
        for album, sees, status in ((uid("z", 1), True, 404), (uid("a", 2), False, 404), (uid("a", 2), True, 200)):
            answer = library.get({"s": album}, path=PATH + path, token=tokens[sees])
            assert answer.status_code == status, (path, album, sees)


def test_months_between_two_have_500_photos_at_most_and_are_known_ones(own, monkeypatch):
    library, _ = own
    every = [name for name, _ in months(library)["months"]]
    assert library.get({}, path=f"{PATH}/between/0001-01/9999-12").status_code == 200
    for name in ("0000-00/2020-01", "2020-01/0000-00", "2020-13/2021-01", every[0] + "/x"):
        assert library.get({}, path=f"{PATH}/between/{name}").status_code == 400, name
    for limit in ("MOST_SHOWN", "_MOST_ROWS"):
        with monkeypatch.context() as patched:
            patched.setattr(f"photosvc.search.reading.timeline.{limit}", 1)
            answer = library.get({}, path=f"{PATH}/between/0001-01/9999-12")
            assert (answer.status_code, answer.json["details"][0]["field"]) == (400, "months")

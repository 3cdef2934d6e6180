"""GET /photos/clusters: photos gathered for a map, compared with plain Python."""

import random

import pytest
from hypothesis import HealthCheck, example, given, reject
from hypothesis import strategies as st
from sqlalchemy import select

from photosvc.core.geo import cell_token
from photosvc.models import Photo
from photosvc.search.rows.write import project
from tests.databases.search.query_model import Matcher, shown
from tests.databases.search.query_strategies import QUERIES
from tests.databases.search.varied_library import fill_varied_library, uid
from tests.helpers.examples import examples
from tests.helpers.library import open_library
from tests.helpers.parsing import parse_node

PATH = "/api/v1/photos/clusters"
QUICK = examples(250, everyday=6, suppress_health_check=list(HealthCheck))
GLOBE = (-180, -90, 180, 90)
BOXES = (
    GLOBE, (11, 48, 12, 49), (179, -20, -179, -10), (0, 0, 0, 0), (-180, -90, 0, 0), (10, 89, 11, 90), (5, 5, 6, 6),
)  # fmt: skip


@pytest.fixture(scope="module")
def varied(tmp_path_factory):
    library = open_library(tmp_path_factory.mktemp("clusters"))
    yield library, *fill(library)
    library.close()


def fill(library):
    """Varied photos, some at the ends of the map; gives them, their albums and a token that sees all, and one not."""
    with library.session() as session:
        session.expire_on_commit = False
        photos, albums = fill_varied_library(session, photos=60)
        for photo, lat, lng in ((photos[3], 90.0, 180.0), (photos[9], -90.0, -180.0), (photos[12], 0.0, 180.0)):
            photo.lat, photo.lng, photo.cell_id = lat, lng, f"s2:{cell_token(lat, lng)}"
        project(session, [photos[3].id, photos[9].id, photos[12].id])
        session.commit()
    return photos, albums, {True: library.token("*", role="admin"), False: library.token("*", role="viewer")}


def ask(library, token=None, **parameters):
    answer = library.get(parameters, path=PATH, token=token)
    assert answer.status_code == 200, answer.text
    return answer.json["clusters"]


def inside(photo, box):
    west, south, east, north = box
    across = west <= photo.lng <= east if west <= east else photo.lng >= west or photo.lng <= east
    return photo.cell_id != "zz" and south <= photo.lat <= north and across


def expected_clusters(photos, albums, query, box, zoom, *, sees_private):
    """Every cell of the grid with photos: their negative number, the photo added last, and all of them, in order."""
    node, matcher = parse_node([("q", query)]), Matcher(photos, albums, sees_private=sees_private)
    cells, side = {}, 90 / 2**zoom
    for photo in photos:
        files = sorted(photo.files, key=lambda file: (not file.primary, file.id))
        matching = [f for f in files if shown(f, node, sees_private=sees_private) and matcher.matches(node, f)]
        if matching and inside(photo, box):
            row = min(int((photo.lat + 90) / side), round(180 / side) - 1)
            column = min(int((photo.lng + 180) / side), round(360 / side) - 1)
            cells.setdefault((row, column), []).append((photo.id, photo, matching[0], len(matching)))
    found = []
    for members in cells.values():
        newest, photo, file, _ = max(members, key=lambda member: member[0])
        place = "" if photo.place.id == "zz" else photo.place.label
        found.append((-len(members), -newest, file.hash, place, members))
    return sorted(found, key=lambda one: one[:2])


def mean(members, *, of_files):
    """The mean position of these photos, or of their files that match."""
    weights = [count if of_files else 1 for *_, count in members]
    return [
        sum(getattr(photo, name) * weight for (_, photo, _, _), weight in zip(members, weights, strict=True))
        / sum(weights)
        for name in ("lat", "lng")
    ]


def check(varied, query, sees_private, box, zoom):
    library, photos, albums, tokens = varied
    parameters = {"q": query, "bbox": ",".join(map(str, box)), "zoom": zoom}
    answer = library.get(parameters, path=PATH, token=tokens[sees_private])
    if answer.status_code in {400, 404}:
        reject()
    assert answer.status_code == 200, answer.text
    expected = expected_clusters(photos, albums, query, box, zoom, sees_private=sees_private)
    found = answer.json["clusters"]
    assert [one[2:] for one in found] == [[-one[0], one[2], one[3], 1] for one in expected]
    for (lat, lng, *_), (*_, members) in zip(found, expected, strict=True):
        means = [mean(members, of_files=of_files) for of_files in (False, True)]
        assert [lat, lng] in [pytest.approx(one, abs=1e-5) for one in means]


@QUICK
@given(query=QUERIES, sees_private=st.booleans(), box=st.sampled_from(BOXES), zoom=st.integers(0, 4))
@example(query="", sees_private=False, box=GLOBE, zoom=3)
@example(query="landscape:true | codec:jpeg", sees_private=True, box=GLOBE, zoom=1)
@example(query="favorite:true", sees_private=True, box=BOXES[2], zoom=4)
@example(query='-lake -"new york"', sees_private=False, box=GLOBE, zoom=2)
def test_clusters_are_the_cells_of_the_grid_with_all_photos_of_any_query(varied, query, sees_private, box, zoom):
    check(varied, query, sees_private, box, zoom)


def test_private_photos_take_no_part_for_viewers_and_an_album_limits_the_map(varied):
    library, photos, _, tokens = varied
    secret = {file.hash for photo in photos if photo.private for file in photo.files}
    for zoom in (0, 3, 20):
        everybody = ask(library, tokens[False], zoom=zoom)
        assert not {cluster[3] for cluster in everybody} & secret
        assert sum(one[2] for one in everybody) < sum(one[2] for one in ask(library, tokens[True], zoom=zoom))
    records = library.find(s=uid("a", 0), geo="true", count=1000, merged="true")
    assert sum(one[2] for one in ask(library, s=uid("a", 0), zoom=3)) == len(records) > 0
    assert library.get({"s": uid("z", 0)}, path=PATH).status_code == 404


@pytest.fixture(scope="module")
def scattered(tmp_path_factory):
    """A library of 210 photos at 210 places."""
    library = open_library(tmp_path_factory.mktemp("scattered"))
    draw = random.Random(5)
    with library.session() as session:
        photos, _ = fill_varied_library(session, photos=210)
        for photo in photos:
            photo.lat, photo.lng = draw.uniform(-80, 80), draw.uniform(-180, 180)
            photo.cell_id, photo.quality, photo.archived_at = f"s2:{cell_token(photo.lat, photo.lng)}", 3, None
            photo.private = False
            for file in photo.files:
                file.error, file.missing = "", False
        project(session, [photo.id for photo in photos])
    yield library
    library.close()


def test_there_are_never_more_than_200_clusters_and_no_photo_is_lost(scattered):
    for zoom in (0, 2, 5, 12, 20):
        clusters = ask(scattered, zoom=zoom)
        assert len(clusters) <= 200, zoom
        assert sum(cluster[2] for cluster in clusters) == 210, zoom
        assert [cluster[2] for cluster in clusters] == sorted((cluster[2] for cluster in clusters), reverse=True), zoom
        assert ask(scattered, zoom=zoom) == clusters


def test_a_cluster_tells_how_its_picture_was_turned(scattered):
    with scattered.session() as session:
        newest = session.scalars(select(Photo).order_by(Photo.id.desc())).first()
        newest.files[0].turn = 6
        shown = newest.files[0].hash
        session.commit()
    assert [one[3::2] for one in ask(scattered, zoom=20) if one[5] != 1] == [[shown, 6]]


def test_a_moved_map_shows_the_same_clusters(scattered):
    left = {tuple(one) for one in ask(scattered, zoom=3, bbox="-45,-45,45,45")}
    moved = {tuple(one) for one in ask(scattered, zoom=3, bbox="-33.75,-45,56.25,45")}
    kept = {one for one in left if one[1] > -33.75}
    assert kept <= moved
    assert kept


def test_clusters_have_a_version_and_a_tag_and_refuse_bad_values_by_name(varied):
    library = varied[0]
    answer = library.get({"zoom": 1}, path=PATH)
    headers = {"X-Auth-Token": library.token(), "If-None-Match": answer.headers["ETag"]}
    assert library.app.test_client().get(f"{PATH}?zoom=1", headers=headers).status_code == 304
    assert library.get({"version": answer.json["version"]}, path=PATH).status_code == 200
    assert library.get({"version": "1"}, path=PATH).status_code == 409
    boxes = ("1,2,3", "1,2,3,4,5", "a,b,c,d", "0,10,1,9", "-181,0,0,1", "0,0,1,91", "nan,0,1,1", "0,0,inf,1")
    for parameters, field in (
        *(({"bbox": text}, "bbox") for text in (*boxes, "1e1,0,11,1", "0,0,1,\0", "٣,0,4,1", "9" * 9000)),
        *(({"zoom": text}, "zoom") for text in ("-1", "21", "x", "1.5", "9" * 30)),
        ({"q": "nosuch:1"}, "q"),
    ):
        answer = library.get(parameters, path=PATH)
        assert answer.status_code == 400, answer.text
        assert [detail["field"] for detail in answer.json["details"]] == [field], parameters

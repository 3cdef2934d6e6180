"""The rows of the grid, computed by its own script in Node: every picture has a place, and none covers another."""

import itertools
import json
import random
import subprocess
from pathlib import Path

import pytest

import photosvc.pages

ROWS = Path(photosvc.pages.__file__).with_name("assets") / "grid/rows.js"
SCRIPT = """
import {layOut} from ROWS;
import {readFileSync} from "node:fs";
const asked = JSON.parse(readFileSync(0, "utf8"));
const plain = ({days, height, ...columns}) => ({days, height, ...Object.fromEntries(
  Object.entries(columns).map(([name, values]) => [name, [...values]]))});
console.log(JSON.stringify(asked.map(([columns, size]) => plain(layOut(columns, size)))));
"""
DESK = {"width": 980, "row": 220, "gap": 4, "between": 24, "head": 38, "after": 20}
PHONE = {"width": 390, "row": 128, "gap": 2, "between": 12, "head": 46, "after": 14}
WALL = {"width": 3600, "row": 260, "gap": 4, "between": 24, "head": 38, "after": 20}

pytestmark = pytest.mark.needs("node")


def lay_out(asked):
    script = SCRIPT.replace("ROWS", json.dumps(ROWS.as_uri()))
    command = ["node", "--input-type=module", "--eval", script]
    return json.loads(subprocess.run(command, input=json.dumps(asked).encode(), capture_output=True, check=True).stdout)


def month(seed):
    """Days and ratios as the timeline gives them, with extreme pictures among them."""
    draw = random.Random(seed)
    days = [[day, draw.choice((1, 1, 2, 3, 8, 40, 150))] for day in draw.sample(range(32), draw.randrange(1, 20))]
    ratios = draw.choices((133, 75, 178, 56, 100, 1, 3000, 240), (40, 25, 9, 8, 9, 1, 1, 2), k=sum(n for _, n in days))
    return {"days": days, "ratio": ratios}


@pytest.mark.parametrize("size", [DESK, PHONE, WALL], ids=["desk", "phone", "wall"])
def test_every_picture_of_any_month_has_a_place_of_its_own(size):
    months = [month(seed) for seed in range(60)]
    for columns, laid in zip(months, lay_out([[columns, size] for columns in months]), strict=True):
        assert [box["day"] for box in laid["days"]] == [day for day, _ in columns["days"]]
        assert [box["last"] - box["first"] for box in laid["days"]] == [count for _, count in columns["days"]]
        placed = []
        for box in laid["days"]:
            assert box["left"] >= 0
            assert box["left"] + box["width"] <= size["width"] + 0.5
            assert box["top"] + box["height"] <= laid["height"]
            for at in range(box["first"], box["last"]):
                left, upper, width, height = (laid[name][at] for name in "xywh")
                assert width > 0
                assert 20 < height <= size["row"] * 1.71
                assert left + width <= size["width"] + 0.5
                assert size["head"] <= upper
                assert upper + height <= box["height"] + 0.5
                placed.append((box["left"] + left, box["top"] + upper, width, height))
        for (x, y, w, h), (other_x, other_y, *_) in itertools.pairwise(placed):
            assert other_x >= x + w - 0.5 or other_y >= y + h - 0.5


def test_rows_of_a_large_day_are_full_and_as_high_as_one_another():
    laid = lay_out([[{"days": [[1, 300]], "ratio": [133, 75, 150] * 100}, DESK]])[0]
    rows = {}
    for x, y, w, h in zip(*(laid[name] for name in "xywh"), strict=True):
        rows.setdefault(y, []).append((x + w, h))
    assert all(max(end for end, _ in row) == pytest.approx(DESK["width"], abs=0.5) for row in rows.values())
    heights = [row[0][1] for row in rows.values()]
    assert max(heights) < 1.5 * min(heights)


def test_small_days_share_a_row():
    laid = lay_out([[{"days": [[3, 1], [2, 1], [1, 1]], "ratio": [133, 133, 133]}, DESK]])[0]
    assert len({box["top"] for box in laid["days"]}) == 1
    assert laid["height"] < 2 * DESK["row"]

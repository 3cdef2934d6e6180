// Clusters of the API, put together where their discs would cover each other on the screen.

const APART = 56; // pixels between the middles of two discs
const MOST = 24; // squares of one disc: a query has its limits
const FINEST = 90 / 2 ** 20; // side of the squares of single photos, in degrees
const digits = (value) => Number(value.toFixed(7));

// The square of the grid around a position, in degrees; its upper edges belong to the squares beside it.
function square(lat, lng, side) {
  const rows = Math.max(1, Math.round(180 / side)), columns = Math.round(360 / side);
  const row = Math.min(Math.floor((lat + 90) / side), rows - 1),
    column = Math.min(Math.floor((lng + 180) / side), columns - 1);
  const south = row * side - 90, west = column * side - 180;
  const north = row === rows - 1 ? 90 : digits(south + side - 1e-7),
    east = column === columns - 1 ? 180 : digits(west + side - 1e-7);
  return [Math.min(north, 90), east, digits(south), digits(west)].join(",");
}

// Puts clusters together; `at` gives the position of latitude and longitude on the screen, at the copy of the world
// that is shown.
export function gather(clusters, side, at) {
  const found = [];
  for (const [lat, lng, count, hash, place, turn] of clusters) {
    const one = {count, hash, place, turn, point: at(lat, lng),
      squares: [square(lat, lng, count === 1 ? FINEST : side)]};
    const near = found.find((other) => other.squares.length < MOST
      && Math.hypot(other.point.x - one.point.x, other.point.y - one.point.y) < APART);
    if (near) {
      near.count += count;
      near.squares.push(...one.squares);
    } else found.push(one);
  }
  return found;
}

// The area `north,east,south,west` of a view, which may cross 180 degrees or show more than the whole world.
export function area(south, west, north, east) {
  const turn = (lng) => ((lng + 540) % 360 + 360) % 360 - 180;
  const whole = east - west >= 360;
  return [Math.min(90, north), whole ? 180 : turn(east), Math.max(-90, south), whole ? -180 : turn(west)]
    .map((value) => Number(value.toFixed(5)));
}

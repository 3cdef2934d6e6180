// Clusters of the API, put together where their discs would cover each other on the screen.

const APART = 56; // pixels between the middles of two discs
const MOST = 24; // squares of one disc: a query has its limits
const FINEST = 90 / 2 ** 20; // side of the squares of single photos, in degrees
const digits = (value) => Number(value.toFixed(7));

// The square of the grid with a position, in degrees. Its north and east edges belong to the next squares.
function square(lat, lng, side) {
  const rows = Math.max(1, Math.round(180 / side)), columns = Math.round(360 / side);
  const row = Math.min(Math.floor((lat + 90) / side), rows - 1);
  const column = Math.min(Math.floor((lng + 180) / side), columns - 1);
  const south = row * side - 90, west = column * side - 180;
  const north = row === rows - 1 ? 90 : digits(south + side - 1e-7);
  const east = column === columns - 1 ? 180 : digits(west + side - 1e-7);
  return [Math.min(north, 90), east, digits(south), digits(west)].join(",");
}

// Joins clusters whose discs would overlap. `at` returns the position of a latitude and longitude on the screen.
export function gather(clusters, side, at) {
  const discs = [];
  for (const [lat, lng, count, hash, place, turn] of clusters) {
    const point = at(lat, lng), own = square(lat, lng, count === 1 ? FINEST : side);
    const isNear = (disc) => Math.hypot(disc.point.x - point.x, disc.point.y - point.y) < APART;
    const near = discs.find((disc) => disc.squares.length < MOST && isNear(disc));
    if (near) {
      near.count += count;
      near.squares.push(own);
    } else discs.push({count, hash, place, turn, point, squares: [own]});
  }
  return discs;
}

// The area `north,east,south,west` of a view, which may cross 180 degrees or show more than the whole world.
export function area(south, west, north, east) {
  const turn = (lng) => ((lng + 540) % 360 + 360) % 360 - 180;
  const whole = east - west >= 360;
  return [Math.min(90, north), whole ? 180 : turn(east), Math.max(-90, south), whole ? -180 : turn(west)]
    .map((value) => Number(value.toFixed(5)));
}

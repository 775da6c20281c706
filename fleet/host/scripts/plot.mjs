// Draws lines over time as an SVG.
const [WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM] = [720, 360, 60, 40, 90, 45];
const COLOURS = ["#0b6e99", "#b3541e", "#4f7a28"];

/** Returns the smallest of 1, 2, 5, 10, 20, ... that divides `most` into at most `count` steps. */
function stepOf(most, count) {
  for (let ten = 1; ; ten *= 10)
    for (const factor of [1, 2, 5]) if (most / (ten * factor) <= count) return ten * factor;
}

/** @param lines points [x, y] by name */
export function drawLines(lines, { title, across, up }) {
  const points = Object.values(lines).flat();
  const [mostX, mostY] = [0, 1].map((axis) => Math.max(...points.map((point) => point[axis])));
  const [stepX, stepY] = [stepOf(mostX, 10), stepOf(mostY, 6)];
  const endY = Math.ceil(mostY / stepY) * stepY;
  const x = (value) => (LEFT + (value / mostX) * (WIDTH - LEFT - RIGHT)).toFixed(1);
  const y = (value) => (HEIGHT - BOTTOM - (value / endY) * (HEIGHT - TOP - BOTTOM)).toFixed(1);
  const parts = [`<text x="${LEFT}" y="24" font-size="15">${title}</text>`];
  for (let value = 0; value <= endY; value += stepY)
    parts.push(
      `<path d="M${LEFT} ${y(value)}H${WIDTH - RIGHT}" stroke="#ddd"/>`,
      `<text x="${LEFT - 6}" y="${y(value)}" dy="4" text-anchor="end">${value}</text>`,
    );
  for (let value = 0; value <= mostX; value += stepX)
    parts.push(`<text x="${x(value)}" y="${HEIGHT - BOTTOM + 18}" text-anchor="middle">${value}</text>`);
  parts.push(
    `<text x="${WIDTH - RIGHT}" y="${HEIGHT - 8}" text-anchor="end">${across}</text>`,
    `<text x="${LEFT - 6}" y="24" text-anchor="end">${up}</text>`,
  );
  Object.entries(lines).forEach(([name, own], i) => {
    const path = own.map(([at, value]) => `${x(at)} ${y(value)}`).join("L");
    const [lastX, lastY] = own.at(-1);
    parts.push(
      `<path d="M${path}" fill="none" stroke="${COLOURS[i % COLOURS.length]}" stroke-width="2"/>`,
      `<text x="${x(lastX)}" y="${y(lastY)}" dx="6" dy="4" fill="${COLOURS[i % COLOURS.length]}">${name}</text>`,
    );
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12">
<rect width="100%" height="100%" fill="#fff"/>
${parts.join("\n")}
</svg>
`;
}

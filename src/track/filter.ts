/**
 * Kalman filters of boxes that move with constant velocity. The published filters have seven or eight states, but the
 * covariance of two coordinates is always 0. So each coordinate is a filter of its own with two states, position and
 * velocity, which gives the same numbers.
 *
 * A filter is 20 doubles: position, velocity and the covariances pp, pv and vv of each of its four coordinates. Time is
 * in frames of the nominal rate, for which the noise was published.
 */

/** Count of doubles of a coordinate. */
const COORDINATE = 5;
const VELOCITY = 1;
const PP = 2;
const PV = 3;
const VV = 4;
/** Count of doubles of a filter. */
export const FILTER = 4 * COORDINATE;

/** Offsets of the third and fourth coordinate. */
const THIRD = 2 * COORDINATE;
const FOURTH = 3 * COORDINATE;

/**
 * The changes of one step: noise of the four positions, noise of the four velocities, and the frames that pass. An
 * array holds them, since doubles as arguments may become heap objects.
 */
const SPEED_NOISE = 4;
const FRAMES = 8;

/** Starts the coordinates at rest. Variances of the four positions come first, then those of the velocities. */
function startAt(f: Float64Array, at: number, z: Float64Array, variances: Float64Array): void {
  for (let i = 0; i < 4; i++) {
    const c = at + i * COORDINATE;
    f[c] = z[i];
    f[c + VELOCITY] = 0;
    f[c + PP] = variances[i];
    f[c + PV] = 0;
    f[c + VV] = variances[4 + i];
  }
}

/**
 * Moves the coordinates ahead. A whole count of frames has the same result as that many steps of one frame, each with
 * the given noise. The sums over steps are polynomials, so a fraction of a frame works too.
 */
function advance(f: Float64Array, at: number, step: Float64Array): void {
  const frames = step[FRAMES];
  const once = (frames * (frames - 1)) / 2;
  const squares = (once * (2 * frames - 1)) / 3;
  for (let i = 0; i < 4; i++) {
    const c = at + i * COORDINATE;
    const pv = f[c + PV];
    const vv = f[c + VV];
    const speedNoise = step[SPEED_NOISE + i];
    f[c] += frames * f[c + VELOCITY];
    f[c + PP] += frames * (2 * pv + frames * vv) + frames * step[i] + squares * speedNoise;
    f[c + PV] = pv + frames * vv + once * speedNoise;
    f[c + VV] = vv + frames * speedNoise;
  }
}

/** Corrects the coordinates by a measurement with the given variances. */
function correct(f: Float64Array, at: number, z: Float64Array, variances: Float64Array): void {
  for (let i = 0; i < 4; i++) {
    const c = at + i * COORDINATE;
    const variance = variances[i];
    const pp = f[c + PP];
    const pv = f[c + PV];
    const rest = variance / (pp + variance);
    const gain = pv / (pp + variance);
    const error = z[i] - f[c];
    f[c] += (1 - rest) * error;
    f[c + VELOCITY] += gain * error;
    f[c + PP] = pp * rest;
    f[c + PV] = pv * rest;
    f[c + VV] -= gain * pv;
  }
}

/** Writes the corners of a box given by centre, width and height. */
function writeCorners(
  to: Float64Array,
  box: number,
  x: number,
  y: number,
  width: number,
  height: number,
): void {
  to[box] = x - width / 2;
  to[box + 1] = y - height / 2;
  to[box + 2] = x + width / 2;
  to[box + 3] = y + height / 2;
}

/** The filter of SORT and OC-SORT: centre, area, and width / height without velocity. Noise is in pixels. */
export class AreaFilter {
  private readonly variances = Float64Array.of(10, 10, 10, 10, 1e4, 1e4, 1e4, 0);
  private readonly step = Float64Array.of(1, 1, 1, 1, 0.01, 0.01, 1e-4, 0, 1);
  private readonly measuredVariances = Float64Array.of(1, 1, 10, 10);

  setFrames(frames: number): void {
    this.step[FRAMES] = frames;
  }

  start(f: Float64Array, at: number, z: Float64Array): void {
    startAt(f, at, z, this.variances);
  }

  predict(f: Float64Array, at: number): void {
    advance(f, at, this.step);
  }

  update(f: Float64Array, at: number, z: Float64Array): void {
    correct(f, at, z, this.measuredVariances);
  }

  /** Stops the area's velocity if the next `predict` would make the area 0 or negative. */
  keepArea(f: Float64Array, at: number): void {
    if (f[at + THIRD] + this.step[FRAMES] * f[at + THIRD + VELOCITY] <= 0) f[at + THIRD + VELOCITY] = 0;
  }

  /** Writes the corners of the filter's box. They are NaN if area or ratio is negative. */
  corners(f: Float64Array, at: number, to: Float64Array, box: number): void {
    const width = Math.sqrt(f[at + THIRD] * f[at + FOURTH]);
    writeCorners(to, box, f[at], f[at + COORDINATE], width, f[at + THIRD] / width);
  }
}

/** The filter of ByteTrack: centre, width / height, and height. Noise grows with the height. */
export class HeightFilter {
  private readonly variances = Float64Array.of(0, 0, 1e-4, 0, 0, 0, 1e-10, 0);
  private readonly step = Float64Array.of(0, 0, 1e-4, 0, 0, 0, 1e-10, 0, 1);
  private readonly measuredVariances = Float64Array.of(0, 0, 1e-2, 0);

  setFrames(frames: number): void {
    this.step[FRAMES] = frames;
  }

  start(f: Float64Array, at: number, z: Float64Array): void {
    const { variances } = this;
    variances[0] = variances[1] = variances[3] = (z[3] / 10) ** 2;
    variances[4] = variances[5] = variances[7] = (z[3] / 16) ** 2;
    startAt(f, at, z, variances);
  }

  predict(f: Float64Array, at: number): void {
    const { step } = this;
    step[0] = step[1] = step[3] = (f[at + FOURTH] / 20) ** 2;
    step[4] = step[5] = step[7] = (f[at + FOURTH] / 160) ** 2;
    advance(f, at, step);
  }

  update(f: Float64Array, at: number, z: Float64Array): void {
    const { measuredVariances: variances } = this;
    variances[0] = variances[1] = variances[3] = (f[at + FOURTH] / 20) ** 2;
    correct(f, at, z, variances);
  }

  /** Sets the velocity of the height to 0. */
  holdHeight(f: Float64Array, at: number): void {
    f[at + FOURTH + VELOCITY] = 0;
  }

  corners(f: Float64Array, at: number, to: Float64Array, box: number): void {
    const height = f[at + FOURTH];
    writeCorners(to, box, f[at], f[at + COORDINATE], f[at + THIRD] * height, height);
  }
}

// The data of the page: poses of movers and values of signals between records.
import { Quaternion, Vector3 } from "three";

export function bytes(text) {
  const letters = atob(text), out = new Uint8Array(letters.length);
  for (let i = 0; i < out.length; i++) out[i] = letters.charCodeAt(i);
  return out.buffer;
}

export class Motion {
  constructor(data) {
    this.time = new Float64Array(bytes(data.time));
    this.n = this.time.length;
    this.start = this.time[0] ?? 0;
    this.end = this.time[this.n - 1] ?? 0;
    this.movers = (data.movers ?? []).map((m) => (m ? { ...m, poses: new Float32Array(bytes(m.poses)) } : null));
    this.signals = new Map(data.signals.map((s) => [s.name, { ...s, coded: s.values, values: null }]));
    this.loads = data.loads ? { ...data.loads, values: new Float32Array(bytes(data.loads.values)) } : null;
    for (const mover of this.movers) if (mover && mover.poses.length > 7) mover.turns = this.#turns(mover);
  }

  // Values of a signal at the records; decoded when they are first needed.
  values(name) {
    const s = this.signals.get(name);
    if (!s) return null;
    if (!s.values) {
      const rest = new Float32Array(bytes(s.coded));
      s.values = Float64Array.from({ length: this.n }, (_, i) => (s.base ?? NaN) + (rest.length ? rest[i] : 0));
    }
    return s.values;
  }

  // Smallest and largest values between the records that are kept, [low, high]; null: these show enough.
  envelope(name) {
    const s = this.signals.get(name);
    if (!s?.envelope) return null;
    const rest = new Float32Array(bytes(s.envelope));
    return [0, 1].map((k) => Array.from({ length: this.n }, (_, i) => (Number.isFinite(rest[2 * i + k]) ? s.base + rest[2 * i + k] : null)));
  }

  // Number of the interval that contains t, and the part of it that has passed.
  at(t) {
    let low = 0, high = this.n - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.time[middle] <= t) low = middle; else high = middle;
    }
    const h = this.time[high] - this.time[low];
    return [low, h > 0 ? Math.min(1, Math.max(0, (t - this.time[low]) / h)) : t >= this.time[high] ? 1 : 0];
  }

  value(name, t) {
    const y = this.values(name);
    if (!y) return NaN;
    const [i, u] = this.at(t);
    return u === 0 || i + 1 >= this.n ? y[i] : u === 1 ? y[i + 1] : y[i] + u * (y[i + 1] - y[i]);
  }

  // Whole turns that a body makes between two records beyond the shortest rotation, by its recorded speed or angle.
  #turns(mover) {
    if (mover.number > 0 || mover.point) return null;
    const angle = mover.planar ? this.values(`${mover.part}.angle`) : null;
    const w = ["wx", "wy", "wz"].map((c) => this.values(`${mover.part}.${c}`));
    if (!angle && w.some((c) => !c)) return null;
    const turns = new Int16Array(this.n);
    const q0 = new Quaternion(), q1 = new Quaternion(), axis = new Vector3();
    for (let i = 0; i + 1 < this.n; i++) {
      q0.fromArray(mover.poses, 7 * i + 3);
      q1.fromArray(mover.poses, 7 * i + 10);
      const phi = rotation(q0, q1, axis);
      axis.applyQuaternion(q0);
      const h = this.time[i + 1] - this.time[i];
      const about = angle ? axis.z * (angle[i + 1] - angle[i])
        : 0.5 * h * (axis.x * (w[0][i] + w[0][i + 1]) + axis.y * (w[1][i] + w[1][i + 1]) + axis.z * (w[2][i] + w[2][i + 1]));
      const k = Math.round((about - phi) / (2 * Math.PI));
      turns[i] = Number.isFinite(k) && phi > 1e-6 ? k : 0;
    }
    return turns;
  }

  // Position by cubic polynomials through the records, rotation by the shortest one, or with its turns.
  pose(mover, i, u, position, quaternion) {
    const p = mover.poses;
    if (p.length === 7 || u === 0 || i + 1 >= this.n) {
      const at = p.length === 7 ? 0 : 7 * i;
      position.fromArray(p, at);
      quaternion.fromArray(p, at + 3);
      return;
    }
    const t = this.time, h = t[i + 1] - t[i], last = this.n - 1;
    const slope = (k, c) => {
      const before = k > 0 && t[k] > t[k - 1] ? (p[7 * k + c] - p[7 * k - 7 + c]) / (t[k] - t[k - 1]) : null;
      const after = k < last && t[k + 1] > t[k] ? (p[7 * k + 7 + c] - p[7 * k + c]) / (t[k + 1] - t[k]) : null;
      if (before === null || after === null) return before ?? after ?? 0;
      const a = t[k] - t[k - 1], b = t[k + 1] - t[k];
      return (b * before + a * after) / (a + b);
    };
    const x = [0, 0, 0], u2 = u * u, u3 = u2 * u;
    for (let c = 0; c < 3; c++)
      x[c] = (2 * u3 - 3 * u2 + 1) * p[7 * i + c] + (u3 - 2 * u2 + u) * h * slope(i, c) +
             (3 * u2 - 2 * u3) * p[7 * i + 7 + c] + (u3 - u2) * h * slope(i + 1, c);
    position.set(...x);
    quaternion.fromArray(p, 7 * i + 3);
    to.fromArray(p, 7 * i + 10);
    const k = mover.turns ? mover.turns[i] : 0;
    if (k === 0) {
      quaternion.slerp(to, u);
    } else {
      const phi = rotation(quaternion, to, axis);
      quaternion.multiply(part.setFromAxisAngle(axis, u * (phi + 2 * Math.PI * k)));
    }
  }
}

const to = new Quaternion(), part = new Quaternion(), axis = new Vector3(), relative = new Quaternion();

// Angle and axis, in the axes of q0, of the rotation from q0 to q1.
function rotation(q0, q1, axis) {
  relative.copy(q0).conjugate().multiply(q1);
  if (relative.w < 0) relative.set(-relative.x, -relative.y, -relative.z, -relative.w);
  const s = Math.hypot(relative.x, relative.y, relative.z);
  axis.set(s > 0 ? relative.x / s : 0, s > 0 ? relative.y / s : 0, s > 0 ? relative.z / s : 1);
  return 2 * Math.atan2(s, relative.w);
}

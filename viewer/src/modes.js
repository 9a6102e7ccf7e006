// Modes as a motion: one period, with the phase as time. Displacements are Re((re + i im) A exp(2πi t)); rotations
// likewise as rotation vectors.
import { Quaternion, Vector3 } from "three";
import { Motion, bytes } from "./motion.js";

const SAMPLES = 33, turn = new Quaternion(), axis = new Vector3();

export class ModeMotion extends Motion {
  constructor(data) {
    super(data);
    this.modes = data.modes.map((m) => ({ ...m, shape: new Float32Array(bytes(m.shape)) }));
    this.n = SAMPLES;
    this.time = Float64Array.from({ length: SAMPLES }, (_, i) => i / (SAMPLES - 1));
    this.start = 0;
    this.end = 1;
    this.movers.forEach((m, k) => m && Object.assign(m, { rest: m.poses, index: k, poses: new Float32Array(7 * SAMPLES), turns: null }));
    this.amplitude = 1;
    this.choose(Math.max(0, this.modes.findIndex((m) => !m.zero)));
  }

  choose(number) {
    this.chosen = number;
    this.mode = this.modes[number] ?? { shape: new Float32Array(12 * this.movers.length) };
  }

  // The largest displacement of a mover's origin, and its largest rotation, for amplitude 1.
  extent() {
    let far = 0, turned = 0;
    this.movers.forEach((m, k) => {
      if (!m) return;
      const s = this.mode.shape.subarray(12 * k, 12 * k + 12);
      far = Math.max(far, Math.hypot(...s.subarray(0, 3), ...s.subarray(6, 9)));
      turned = Math.max(turned, Math.hypot(...s.subarray(3, 6), ...s.subarray(9, 12)));
    });
    return { far, turned };
  }

  pose(mover, i, u, position, quaternion) {
    const s = this.mode.shape, at = 12 * mover.index, phase = (2 * Math.PI * (i + u)) / (SAMPLES - 1);
    const c = this.amplitude * Math.cos(phase), d = -this.amplitude * Math.sin(phase);
    const part = (k) => c * s[at + k] + d * s[at + 6 + k];
    position.fromArray(mover.rest).add(axis.set(part(0), part(1), part(2)));
    quaternion.fromArray(mover.rest, 3);
    axis.set(part(3), part(4), part(5));
    const angle = axis.length();
    if (angle > 0) quaternion.premultiply(turn.setFromAxisAngle(axis.divideScalar(angle), angle));
  }
}

// The machine as objects of three.js: shapes of its parts, and bodies as rods between the places where others
// are attached to them, with boxes of the same inertia.
import * as T from "three";
import { bytes } from "./motion.js";
import { reach, road, solid } from "./solids.js";

const COLOURS = [0x4c86c6, 0xe08a3c, 0x5aa469, 0xc95d63, 0x8b74b8, 0x9c7a5b, 0xd17fb5, 0x6f8a91, 0xb5a642, 0x3fa7a3];
const STEEL = 0x59616d, SPRING = 0xd98000, ROPE = 0x8a6d3b, BASE = 0x9aa3ad, TYRE = 0x30343b;
const FORCE = 0xc0392b, TORQUE = 0x7d3cb5, LOADS = 6;
const Z = new T.Vector3(0, 0, 1);

export class Machine {
  // ghost: a colour; the machine is then faint and in that colour alone.
  constructor(data, motion, ghost = null) {
    this.motion = motion;
    this.ghost = ghost;
    this.scene = new T.Group();
    this.shapes = (data.shapes ?? []).map((s) => ({ ...s }));
    // Shapes of the model belong to the bodies that carry them.
    for (const s of this.shapes) if (s.given && motion.movers[s.on[0]]?.part) (s.shape = s.part), (s.part = motion.movers[s.on[0]].part);
    this.looks = new Set(this.shapes.filter((s) => s.given && s.on[0] !== 0).map((s) => s.on[0])); // movers that have them
    this.arrows = []; // of forces and torques, which can be hidden
    this.tubes = []; // beams and cables, which can be coloured
    this.updates = []; // functions that follow the motion
    this.parts = new Map(); // name → {type, objects, movers, mass}
    this.boxes = new T.Group();
    this.masses = []; // boxes of inertia, which can be hidden
    this.groups = motion.movers.map((m) => {
      if (!m) return null;
      const g = new T.Group();
      this.scene.add(g);
      return g;
    });
    this.move(motion.start, false);
    this.size = this.#measure();
    this.#listParts();
    const bodies = motion.movers.filter((m) => m && m.number === 0 && m.mass > 0).length;
    this.many = bodies > 200; // less is drawn of each
    this.r = 0.016 * this.size * Math.min(1, Math.max(0.25, Math.sqrt(10 / (bodies || 1)))); // of pins; all else follows
    this.#bodies();
    for (const shape of this.shapes) this.#shape(shape);
    this.#chains();
    if (this.ghost === null) this.#forces();
    this.move(motion.start);
  }

  // Moves everything to the time t.
  move(t, update = true) {
    const [i, u] = this.motion.at(t);
    this.motion.movers.forEach((m, k) => {
      const g = this.groups[k];
      if (!g) return;
      this.motion.pose(m, i, u, g.position, g.quaternion);
      g.updateMatrixWorld();
    });
    if (update) for (const f of this.updates) f(t);
  }

  // Places of the ends of a shape: in the axes of its mover, and in space.
  local(shape, k) {
    return new T.Vector3().fromArray(shape.at[k]);
  }
  place(shape, k, out = new T.Vector3()) {
    return out.fromArray(shape.at[k]).applyMatrix4(this.groups[shape.on[k]].matrixWorld);
  }
  axes(shape, k) {
    return new T.Quaternion().fromArray(shape.at[k], 3);
  }

  #measure() {
    const box = new T.Box3();
    for (const s of this.shapes) {
      if (s.kind === "plane" || (s.kind === "frame" && s.on[0] === 0)) continue;
      s.on.forEach((_, k) => box.expandByPoint(this.place(s, k)));
      const half = s.given && s.on[0] === 0 ? null : reach(s);
      if (half) {
        const c = this.place(s, 0), d = new T.Vector3(...half).length() * (s.kind === "box" ? 0.7 : 1);
        const R = new T.Vector3(d, d, d);
        box.expandByPoint(c.clone().add(R)).expandByPoint(c.sub(R));
      }
    }
    this.motion.movers.forEach((m, k) => m && k > 0 && m.mass > 0 && box.expandByPoint(this.groups[k].position));
    const own = box.isEmpty() ? 0 : box.getSize(new T.Vector3()).length(), travel = this.#travelled();
    this.tiny = own < 1e-3 * travel; // a point on its way: the way is looked at
    const size = this.tiny ? 0.4 * travel : own;
    return size > 1e-9 ? size : this.#largestInertia() || 1;
  }
  // How far the mover goes that goes farthest.
  #travelled() {
    let most = 0;
    const x = new T.Vector3(), q = new T.Quaternion();
    for (const m of this.motion.movers) {
      if (!m || m.poses.length === 7) continue;
      const box = new T.Box3();
      for (let i = 0; i < this.motion.n; i += Math.ceil(this.motion.n / 50)) this.motion.pose(m, i, 0, x, q), box.expandByPoint(x);
      most = Math.max(most, box.getSize(x).length());
    }
    return most;
  }
  #largestInertia() {
    let most = 0;
    for (const m of this.motion.movers) {
      if (m && m.mass > 0) most = Math.max(most, 4 * Math.sqrt(Math.max(...m.inertia.slice(0, 3)) / m.mass));
    }
    return Number.isFinite(most) ? most : 0;
  }

  #listParts() {
    this.shapes.forEach((s) => {
      if (s.given && this.parts.has(s.part)) return;
      const end = s.type === "marker" ? s.on.length - 1 : 0; // a marker's line begins at its body
      const p = this.parts.get(s.part) ?? { name: s.part, type: s.type, objects: [], on: s.on[end], at: s.at[end], mass: 0 };
      this.parts.set(s.part, p);
    });
    for (const m of this.motion.movers) {
      const p = m && this.parts.get(m.part);
      if (p) p.mass += m.mass ?? 0;
      if (p && m.lost) p.lost = true;
    }
    let k = 0;
    for (const p of this.parts.values()) p.colour = /body|point|beam|modal/.test(p.type) ? COLOURS[k++ % COLOURS.length] : STEEL;
  }

  // ---- Meshes ----

  #own(part, object, parent) {
    const p = this.parts.get(part);
    object.traverse((o) => {
      if (o.isMesh || o.isLine) o.userData.part = part;
      if (this.ghost !== null && o.material) o.material.color?.set(this.ghost), Object.assign(o.material, { transparent: true, opacity: 0.3, depthWrite: false });
    });
    p?.objects.push(object);
    (parent ?? this.scene).add(object);
    return object;
  }
  #material(colour, more = {}) {
    return new T.MeshStandardMaterial({ color: colour, roughness: 0.55, metalness: 0.15, ...more });
  }
  #mesh(geometry, colour, more) {
    return new T.Mesh(geometry, this.#material(colour, more));
  }
  #at(object, shape, k) {
    object.position.copy(this.local(shape, k));
    object.quaternion.copy(this.axes(shape, k));
    return object;
  }
  // A cylinder about z from a to b.
  #rod(a, b, radius, colour, more) {
    const d = b.clone().sub(a), rod = new T.CapsuleGeometry(radius, d.length(), this.many ? 1 : 4, this.many ? 6 : 12);
    const mesh = this.#mesh(rod, colour, more);
    mesh.position.copy(a).addScaledVector(d, 0.5);
    mesh.quaternion.setFromUnitVectors(new T.Vector3(0, 1, 0), d.normalize());
    return mesh;
  }
  #alongZ(radius, length, colour, segments = 24) {
    const g = new T.CylinderGeometry(radius, radius, length, segments).rotateX(Math.PI / 2);
    return this.#mesh(g, colour);
  }
  // Lets an object of unit length along z reach from end to end of a shape.
  #stretch(object, shape) {
    const a = new T.Vector3(), b = new T.Vector3();
    this.updates.push(() => {
      this.place(shape, 0, a);
      this.place(shape, 1, b).sub(a);
      const length = Math.max(b.length(), 1e-9 * this.size);
      object.position.copy(a);
      object.scale.z = length;
      object.quaternion.setFromUnitVectors(Z, b.divideScalar(length));
    });
    return object;
  }

  // ---- Bodies ----

  // Places on movers where others are attached, each once.
  #attachments(mover) {
    this.attached ??= this.#findAttachments();
    return this.attached.get(mover) ?? [];
  }
  #findAttachments() {
    const all = new Map();
    const add = (on, p) => {
      const found = all.get(on) ?? all.set(on, []).get(on);
      if (on !== 0 && !found.some((q) => q.distanceTo(p) < 1e-4 * this.size)) found.push(p);
    };
    for (const s of this.shapes) {
      if (["frame", "plane", "beam", "cable"].includes(s.kind) || s.type === "point_on_plane" || s.given || s.type === "collider") continue;
      s.on.forEach((on, k) => {
        const rail = s.kind === "joint" && k === 1 && /prismatic|cylindrical|screw|planar|point_on_line/.test(s.type);
        const origin = s.kind === "line" && s.type === "marker" && k === 0;
        if (!rail && !origin) add(on, this.local(s, k));
      });
    }
    return all;
  }

  #bodies() {
    this.motion.movers.forEach((m, k) => {
      if (!m || k === 0 || !this.parts.has(m.part) || m.number > 0) return;
      const p = this.parts.get(m.part), more = m.lost ? { transparent: true, opacity: 0.35 } : {};
      if (/beam|cable/.test(p.type)) return;
      if (m.point) return;
      if (!this.looks.has(k)) this.#links(m, k, p, more);
      if (this.ghost === null) this.#box(m, k, p);
    });
  }

  #links(m, k, p, more) {
    const ends = this.#attachments(k), centre = new T.Vector3(), r = 0.8 * this.r;
    const add = (o) => this.#own(m.part, o, this.groups[k]);
    const link = (a, b, radius = r) => {
      if (a.distanceTo(b) > 1e-4 * this.size) add(this.#rod(a, b, radius, p.colour, more));
    };
    if (ends.length === 2) {
      const line = new T.Line3(ends[0], ends[1]), near = line.closestPointToPoint(centre, true, new T.Vector3());
      link(ends[0], ends[1]);
      link(near, centre, 0.5 * r);
    } else {
      for (const end of ends) link(centre, end, ends.length > 4 ? 0.5 * r : r);
    }
    if (m.mass > 0 && !this.many) add(this.#mesh(new T.SphereGeometry(1.25 * r, 16, 12), p.colour, more));
  }

  // The box of the same mass and inertia: h_i² = 3/2 (I_j + I_k − I_i)/m are its half sides; where two moments are
  // equal, the cylinder: R² = 2 I_3/m, H² = 12 I_1/m − 3 R²; where all are, the ball: R² = 5/2 I/m. Wheels and balls have shapes of their own. Of planar
  // bodies one moment is known, which is not a size: those with less than two pins are small blocks.
  #box(m, k, p) {
    if (!(m.mass > 0) || (this.many && this.#attachments(k).length)) return;
    const thin = 0.3 * this.r, look = { transparent: true, opacity: 0.28, depthWrite: false };
    let mesh;
    this.round ??= new Set(this.shapes.filter((s) => ["disk", "wheel", "sphere"].includes(s.kind)).map((s) => s.on[0]));
    if (this.round.has(k) && !this.looks.has(k)) return;
    if (m.planar) {
      if (this.#attachments(k).length < 2) this.#own(m.part, this.#mesh(new T.BoxGeometry(5 * this.r, 3 * this.r, 2 * this.r), p.colour), this.groups[k]);
      return;
    }
    const { values, axes } = principal(m.inertia), round = cylinder(values, m.mass);
    const ball = Math.sqrt((2.5 * values[0]) / m.mass), even = Math.max(...values) - Math.min(...values) < 1e-6 * values[0];
    if (even && ball > 1e-6 * this.size && ball < 2 * this.size) {
      mesh = this.#mesh(new T.SphereGeometry(ball, 32, 20), p.colour, look);
    } else if (round && round.radius < 2 * this.size && round.length < 4 * this.size && Math.max(round.radius, round.length) > 1e-6 * this.size) {
      const radius = Math.max(round.radius, thin);
      mesh = this.#mesh(new T.CylinderGeometry(radius, radius, Math.max(round.length, thin), 40), p.colour, look);
      const axis = new T.Vector3().setFromMatrixColumn(axes, round.axis);
      mesh.quaternion.setFromUnitVectors(new T.Vector3(0, 1, 0), axis);
      mesh.add(new T.LineSegments(new T.EdgesGeometry(mesh.geometry, 30), new T.LineBasicMaterial({ color: p.colour })));
    } else {
      const half = [0, 1, 2].map((i) => Math.sqrt(Math.max(0, (1.5 * (values[(i + 1) % 3] + values[(i + 2) % 3] - values[i])) / m.mass)));
      if (!half.every(Number.isFinite) || Math.max(...half) < 1e-6 * this.size) return;
      mesh = this.#mesh(new T.BoxGeometry(...half.map((h) => 2 * Math.min(Math.max(h, thin), 2 * this.size))), p.colour, look);
      mesh.quaternion.setFromRotationMatrix(axes);
      mesh.add(new T.LineSegments(new T.EdgesGeometry(mesh.geometry), new T.LineBasicMaterial({ color: p.colour })));
    }
    mesh.visible = !this.looks.has(k);
    this.masses.push(this.#own(m.part, mesh, this.groups[k]));
  }

  // ---- Shapes by kind ----

  #shape(s) {
    if (s.given || (s.type === "collider" && s.kind !== "plane")) return this.#solid(s);
    const make = { point: this.#point, line: this.#line, coil: this.#coil, joint: this.#joint, arrow: this.#arrow,
                   sphere: this.#sphere, disk: this.#disk, wheel: this.#disk, plane: this.#plane, frame: this.#frame }[s.kind];
    if (make) make.call(this, s);
  }

  // Shapes of the model, and colliders; these are faint where the body has shapes.
  #solid(s) {
    if (s.kind === "disk") return this.#disk(s);
    const faint = !s.given && this.looks.has(s.on[0]), opacity = s.given ? s.opacity : faint ? 0.2 : 0.75;
    const look = opacity < 1 ? { transparent: true, opacity, depthWrite: opacity > 0.5 } : {};
    if (s.kind === "mesh") look.side = T.DoubleSide;
    if (s.kind === "mesh" && s.triangles.length < 64000) look.flatShading = true;
    const mesh = this.#mesh(solid(s), s.colour ?? this.#bodyColour(s), look);
    if (s.kind === "sphere" && s.on[0] !== 0 && !faint)
      for (let i = 0; i < 3; i++) {
        const ring = this.#mesh(new T.TorusGeometry(s.size, 0.02 * s.size, 6, 48), TYRE);
        if (i) ring.rotation[i === 1 ? "x" : "y"] = Math.PI / 2;
        mesh.add(ring);
      }
    mesh.userData.given = Boolean(s.given);
    this.#onBody(s, this.#at(mesh, s, 0));
  }

  #frame(s) {
    if (s.on[0] !== 0 && !/knife|rolling|marker/.test(s.type)) return;
    this.#own(s.part, this.#at(new T.AxesHelper((s.part === "ground" ? 5 : 3) * this.r), s, 0), this.groups[s.on[0]]);
  }

  #point(s) {
    const colour = this.parts.get(s.part).colour;
    this.#own(s.part, this.#at(this.#mesh(new T.SphereGeometry(1.6 * this.r, 24, 16), colour), s, 0), this.groups[s.on[0]]);
  }

  #line(s) {
    if (s.on[0] === s.on[1] || s.type === "marker") {
      const tip = this.#mesh(new T.OctahedronGeometry(0.7 * this.r), STEEL);
      this.#own(s.part, this.#at(tip, s, 1), this.groups[s.on[1]]);
      return;
    }
    const group = new T.Group();
    const piece = (from, to, radius, colour) => {
      const c = this.#alongZ(radius, to - from, colour, 12);
      c.position.z = 0.5 * (from + to);
      group.add(c);
    };
    if (/actuator|damper|stop/.test(s.type)) {
      piece(0, 0.55, 0.6 * this.r, STEEL);
      piece(0.5, 1, 0.3 * this.r, BASE);
    } else {
      piece(0, 1, s.type === "distance" ? 0.25 * this.r : 0.4 * this.r, s.type === "distance" ? ROPE : STEEL);
    }
    this.#own(s.part, this.#stretch(group, s));
  }

  #coil(s) {
    const coils = 9, points = [];
    for (let i = 0; i <= 24 * coils; i++) {
      const u = i / (24 * coils), a = 2 * Math.PI * coils * u, r = this.r * Math.min(1, 12 * u, 12 * (1 - u));
      points.push(new T.Vector3(r * Math.cos(a), r * Math.sin(a), u));
    }
    // Wires of constant thickness: the geometry is made for a length of 1, and its section is flattened along z by
    // the stretch, which does not show on a wire.
    const curve = new T.CatmullRomCurve3(points), wire = new T.TubeGeometry(curve, 24 * coils, 0.16 * this.r, 5);
    this.#own(s.part, this.#stretch(this.#mesh(wire, SPRING), s));
  }

  #arrow(s) {
    if (["fx", "fy", "fz", "mx", "my", "mz"].some((c) => this.motion.signals.has(`${s.part}.${c}`))) return; // #forces() draws it
    const cone = this.#mesh(new T.ConeGeometry(0.8 * this.r, 2 * this.r, 12).rotateX(Math.PI / 2), FORCE);
    this.#own(s.part, this.#at(cone, s, 0), this.groups[s.on[0]]);
  }

  // Forces and torques of parts that have them as signals: joints, contacts, tyres, bushings. `shown`: which at first.
  #forces() {
    const done = new Set(), all = [];
    for (const s of this.shapes) {
      const names = (letter) => ["x", "y", "z"].map((c) => `${s.part}.${letter}${c}`).filter((n) => this.motion.signals.has(n));
      if (done.has(s.part) || s.kind === "beam" || s.kind === "cable") continue;
      done.add(s.part);
      const force = names("f"), torque = names("m"), shown = /tyre|collision|contact|rolling|force/.test(s.type);
      if (force.length > (s.type === "force" ? 0 : 1)) all.push({ s, names: force, colour: FORCE, shown });
      if (torque.length) all.push({ s, names: torque, colour: TORQUE, shown, torque: true });
    }
    for (const name of this.motion.signals.keys()) {
      const part = name.slice(0, -3); // collisions have no shape of their own
      if (!/\.fx$/.test(name) || done.has(part) || !this.motion.signals.has(`${part}.normal`) || !this.motion.signals.has(`${part}.x`)) continue;
      this.parts.set(part, { name: part, type: "collision", objects: [], on: 0, at: [0, 0, 0, 0, 0, 0, 1], mass: 0, colour: STEEL });
      all.push({ s: { part, type: "collision", on: [0], at: [[0, 0, 0, 0, 0, 0, 1]] }, names: ["x", "y", "z"].map((c) => `${part}.f${c}`), colour: FORCE, shown: true });
    }
    for (const kind of [false, true]) this.#scaleArrows(all.filter((a) => Boolean(a.torque) === kind));
  }
  #scaleArrows(list) {
    const size = (a, i) => Math.hypot(...a.names.map((n) => this.motion.values(n)[i]));
    const step = Math.max(1, Math.floor(this.motion.n / 300));
    for (const group of [list.filter((a) => a.shown), list.filter((a) => !a.shown)]) {
      const most = [];
      for (const a of group) for (let i = 0; i < this.motion.n; i += step) most.push(size(a, i));
      const sorted = most.filter(Number.isFinite).sort((x, y) => x - y), high = sorted[Math.floor(0.75 * (sorted.length - 1))] || sorted.at(-1) || 0;
      for (const a of high > 0 ? group : []) this.#forceArrow(a, high);
    }
  }
  #forceArrow({ s, names, colour, shown, torque }, most) {
    const arrow = new T.ArrowHelper(Z, new T.Vector3(), 1, colour), d = new T.Vector3();
    const letter = torque ? "m" : "f", has = new Map(names.map((n) => [n.at(-1), n])), axes = ["x", "y", "z"];
    const at = s.type === "rolling" ? "p" : "", place = axes.map((c) => `${s.part}.${at}${c}`), own = /tyre|collision|rolling/.test(s.type), body = this.groups[s.on[0]];
    if (torque) arrow.add(new T.ArrowHelper(new T.Vector3(0, 1, 0), new T.Vector3(), 0.85, colour)); // two heads
    this.#own(s.part, arrow);
    arrow.userData.kind = letter;
    this.arrows.push({ arrow, shown });
    arrow.userData.on = shown;
    this.updates.push((t) => {
      d.set(...axes.map((c) => (has.has(c) ? this.motion.value(has.get(c), t) : 0)));
      const f = d.length();
      arrow.visible = arrow.userData.on && f > 1e-4 * most && Number.isFinite(f);
      if (!arrow.visible) return;
      if (own && place.every((n) => this.motion.signals.has(n))) arrow.position.set(...place.map((n) => this.motion.value(n, t)));
      else this.place(s, 0, arrow.position);
      if (s.type === "tyre") { // its axes: forward, across, the road's normal
        const across = new T.Vector3(0, s.kind === "wheel" ? 1 : 0, s.kind === "wheel" ? 0 : 1).applyQuaternion(this.axes(s, 0)).applyQuaternion(body.quaternion);
        const normal = this.floor?.normal ?? Z, forward = across.clone().cross(normal).normalize();
        d.set(0, 0, 0).addScaledVector(forward, this.motion.value(`${s.part}.fx`, t) || 0)
          .addScaledVector(normal.clone().cross(forward), this.motion.value(`${s.part}.fy`, t) || 0).addScaledVector(normal, this.motion.value(`${s.part}.fz`, t) || 0);
      }
      arrow.setDirection(d.normalize());
      const length = Math.min(0.5, 0.15 * (f / most)) * this.size, head = Math.min(2 * this.r, 0.5 * length);
      arrow.setLength(length, head, 0.6 * head);
      if (torque) arrow.children[2].setLength(Math.max(1e-9, length - 0.6 * head), head, 0.6 * head);
    });
  }
  showArrows(on) {
    for (const a of this.arrows) a.arrow.userData.on = on || a.shown;
  }

  #sphere(s) {
    const ball = this.#mesh(new T.SphereGeometry(s.size, 32, 24), this.#bodyColour(s), { transparent: true, opacity: 0.75 });
    for (let i = 0; i < 3; i++) {
      const ring = this.#mesh(new T.TorusGeometry(s.size, 0.02 * s.size, 6, 48), TYRE);
      if (i) ring.rotation[i === 1 ? "x" : "y"] = Math.PI / 2;
      ball.add(ring);
    }
    this.#onBody(s, this.#at(ball, s, 0));
  }

  // What belongs to a contact or a tyre, and is lit with its body too.
  #onBody(s, object) {
    this.#own(s.part, object, this.groups[s.on[0]]);
    const body = this.motion.movers[s.on[0]]?.part;
    if (body !== s.part) this.parts.get(body)?.objects.push(object);
  }

  #bodyColour(s) {
    const m = this.motion.movers[s.on[0]];
    return this.parts.get(m?.part)?.colour ?? STEEL;
  }

  // A wheel with spokes, so that its rotation is seen; about z, or about y.
  #disk(s) {
    if (!s.given && this.looks.has(s.on[0]) && s.type !== "tyre") return;
    if (s.type === "tyre" && this.shapes.some((o) => o.given && o.kind === "disk" && o.on[0] === s.on[0])) return;
    const wheel = new T.Group(), R = s.size, width = s.dimension?.[0] ?? 0, rim = width > 0 ? Math.min(0.5 * width, 0.3 * R) : Math.min(0.09 * R, 3 * this.r);
    const ring = this.#mesh(new T.TorusGeometry(R - rim, rim, 12, 64), s.colour ?? (s.type === "tyre" ? TYRE : this.#bodyColour(s)));
    if (width > 0) ring.scale.z = (0.5 * width) / rim;
    wheel.add(ring);
    const web = new T.CylinderGeometry(R - rim, R - rim, 0.04 * R, 48).rotateX(Math.PI / 2);
    wheel.add(this.#mesh(web, this.#bodyColour(s), { transparent: true, opacity: 0.25, depthWrite: false }));
    for (let i = 0; i < 3; i++) {
      const spoke = this.#alongZ(0.025 * R, 2 * (R - rim), i ? BASE : 0xf2f2f2, 8);
      spoke.quaternion.setFromUnitVectors(Z, new T.Vector3(Math.cos((Math.PI * i) / 3), Math.sin((Math.PI * i) / 3), 0));
      wheel.add(spoke);
    }
    const holder = this.#at(new T.Group(), s, 0);
    if (s.kind === "wheel") wheel.quaternion.setFromUnitVectors(Z, new T.Vector3(0, 1, 0));
    holder.add(wheel);
    this.#onBody(s, holder);
  }

  // A plate on a piston below a tyre, where the road moves; its top is the road.
  #post(s, p) {
    const R = p.radius, height = new Float32Array(bytes(p.height)), post = new T.Group(), at = this.#at(new T.Group(), s, 0);
    const plate = this.#alongZ(0.55 * R, 0.12 * R, BASE, 32), piston = this.#alongZ(0.18 * R, 0.9 * R, STEEL, 20);
    plate.position.z = -0.06 * R;
    piston.position.z = -0.57 * R;
    post.add(plate, piston);
    at.add(post);
    this.#own(s.part, at, this.groups[0]);
    const x = new T.Vector3(), back = at.matrix.clone();
    this.updates.push((t) => {
      const [i, u] = this.motion.at(t), next = Math.min(i + 1, height.length - 1);
      at.updateMatrixWorld();
      x.fromArray(p.at).applyMatrix4(this.groups[p.on].matrixWorld).applyMatrix4(back.copy(at.matrixWorld).invert());
      post.position.set(x.x, x.y, height[i] + u * (height[next] - height[i]));
    });
  }

  #plane(s) {
    const side = 3 * this.size;
    if (s.on[0] === 0) {
      this.floor ??= { point: this.place(s, 0), normal: Z.clone().applyQuaternion(this.axes(s, 0)) };
      if (s.road?.posts?.length) {
        for (const p of s.road.posts) this.#post(s, p);
        this.floor.bumps = true;
      } else if (s.road && this.ghost === null) {
        const ground = this.#mesh(road(s.road), 0xffffff, { vertexColors: true, side: T.DoubleSide, roughness: 0.95, metalness: 0 });
        ground.userData.far = true;
        this.floor.bumps = true;
        this.#own(s.part, this.#at(ground, s, 0), this.groups[0]);
      }
      return;
    }
    const look = { transparent: true, opacity: 0.25, side: T.DoubleSide, depthWrite: false };
    this.#own(s.part, this.#at(this.#mesh(new T.PlaneGeometry(0.3 * side, 0.3 * side), BASE, look), s, 0), this.groups[s.on[0]]);
  }

  // ---- Joints: what moves with b, what stays with a, and a red line where they have come apart ----

  #joint(s) {
    const r = this.r, two = s.on.length > 1, add = (o, k) => this.#own(s.part, this.#at(o, s, k), this.groups[s.on[k]]);
    const planar = s.on.every((on) => on === 0 || this.motion.movers[on]?.planar);
    const pin = () => this.#alongZ(0.75 * r, 3.2 * r, STEEL);
    const rail = () => {
      const [from, to] = two ? this.#travel(s, planar) : [-6 * r, 6 * r];
      const bar = this.#alongZ(0.3 * r, to - from, BASE), holder = new T.Group();
      bar.position.z = 0.5 * (from + to);
      holder.userData.far = to - from > 5 * this.size; // is not looked at as a whole
      holder.add(bar);
      if (planar) bar.rotation.y = Math.PI / 2, (bar.position.x = bar.position.z), (bar.position.z = 0);
      return holder;
    };
    const ring = () => this.#mesh(new T.TorusGeometry(1.15 * r, 0.3 * r, 10, 32), BASE);
    const cross = () => {
      const g = new T.Group(), bar = this.#alongZ(0.4 * r, 3 * r, STEEL);
      g.add(bar);
      return g;
    };
    const b = { revolute: pin, rod: pin, fixed: () => this.#mesh(new T.BoxGeometry(1.4 * r, 1.4 * r, 1.4 * r), STEEL),
      prismatic: () => this.#mesh(planar ? new T.BoxGeometry(3.4 * r, 2.2 * r, 2.2 * r) : new T.BoxGeometry(2.2 * r, 2.2 * r, 3.4 * r), STEEL),
      cylindrical: () => this.#alongZ(1.1 * r, 3.2 * r, STEEL), screw: () => this.#alongZ(1.1 * r, 3.2 * r, STEEL),
      spherical: () => this.#mesh(new T.SphereGeometry(1.25 * r, this.many ? 8 : 24, this.many ? 6 : 16), STEEL),
      universal: () => { const g = cross(); g.children[0].rotation.x = Math.PI / 2; return g; },
      constant_velocity: () => this.#mesh(new T.SphereGeometry(1.25 * r, 24, 16), STEEL) }[s.type];
    add(b ? b() : this.#mesh(new T.OctahedronGeometry(1.1 * r), STEEL), 0);
    if (!two || (this.many && !s.on.includes(0))) return;
    if (/prismatic|cylindrical|screw|point_on_line/.test(s.type)) add(rail(), 1);
    else if (/revolute|rod|spherical|constant/.test(s.type)) add(ring(), 1);
    else if (s.type === "universal") { const g = cross(); g.children[0].rotation.y = Math.PI / 2; add(g, 1); }
    else if (/planar|point_on_plane/.test(s.type)) {
      const look = { transparent: true, opacity: 0.3, side: T.DoubleSide, depthWrite: false };
      add(this.#mesh(new T.PlaneGeometry(10 * r, 10 * r), BASE, look), 1);
    }
    const ground = s.on.indexOf(0);
    if (ground >= 0) this.#base(s, ground, planar);
    if (/revolute|spherical|universal|fixed|constant/.test(s.type)) this.#gap(s);
  }

  // Where b is along the axis of a, over the whole motion.
  #travel(s, planar) {
    const a = this.motion.movers[s.on[1]], b = this.motion.movers[s.on[0]], x = new T.Vector3(), q = new T.Quaternion();
    const y = new T.Vector3(), p = new T.Quaternion(), axis = planar ? "x" : "z", back = this.axes(s, 1).invert();
    let from = Infinity, to = -Infinity;
    const step = Math.max(1, Math.floor(this.motion.n / 500));
    for (let i = 0; i < this.motion.n; i += step) {
      this.motion.pose(a, i, 0, x, q);
      this.motion.pose(b, i, 0, y, p);
      const d = this.local(s, 0).applyQuaternion(p).add(y).sub(x).applyQuaternion(q.invert());
      const along = d.sub(this.local(s, 1)).applyQuaternion(back)[axis];
      from = Math.min(from, along);
      to = Math.max(to, along);
    }
    return [Math.max(from, -1000 * this.size) - 4 * this.r, Math.min(to, 1000 * this.size) + 4 * this.r];
  }

  // A foot where a joint is fixed to the ground.
  #base(s, k, planar) {
    if (/prismatic|cylindrical|screw|point_on_line|planar|point_on_plane/.test(s.type)) return;
    const foot = this.#mesh(new T.CylinderGeometry(0.9 * this.r, 2.4 * this.r, 2.4 * this.r, 4), BASE);
    this.feet ??= [];
    this.feet.push({ foot, shape: s, end: k, planar });
    this.#own(s.part, foot, this.groups[0]);
  }

  // Feet stand below their joints, away from `up`.
  stand(up) {
    for (const { foot, shape, end } of this.feet ?? []) {
      foot.quaternion.setFromUnitVectors(new T.Vector3(0, 1, 0), up);
      foot.position.copy(this.local(shape, end)).addScaledVector(up, -1.8 * this.r);
    }
  }

  #gap(s) {
    const geometry = new T.BufferGeometry().setAttribute("position", new T.BufferAttribute(new Float32Array(6), 3));
    const line = new T.Line(geometry, new T.LineBasicMaterial({ color: 0xff0000 })), a = new T.Vector3(), b = new T.Vector3();
    line.frustumCulled = false;
    this.#own(s.part, line);
    this.updates.push(() => {
      this.place(s, 0, a).toArray(geometry.attributes.position.array, 0);
      this.place(s, 1, b).toArray(geometry.attributes.position.array, 3);
      geometry.attributes.position.needsUpdate = true;
      line.visible = a.distanceTo(b) > 1e-3 * this.size;
    });
  }

  // ---- Beams, cables, bodies with modes: tubes through their nodes ----

  #chains() {
    const chains = new Map();
    for (const s of this.shapes)
      if (s.kind === "beam" || s.kind === "cable") (chains.get(s.part) ?? chains.set(s.part, []).get(s.part)).push(s);
    for (const [part, pieces] of chains) this.#tube(part, pieces);
    this.motion.movers.forEach((m, k) => {
      const p = m && this.parts.get(m.part);
      if (!p || !/modal/.test(p.type) || k === p.on) return;
      const s = { on: [p.on, k], at: [[0, 0, 0, 0, 0, 0, 1], [0, 0, 0, 0, 0, 0, 1]] };
      this.#own(m.part, this.#stretch(this.#alongZ(0.4 * this.r, 1, p.colour, 10).translateZ(0.5), s));
    });
  }

  // Colours beams and cables by one of their loads (0 N, 1 Q, 2 T, 3 M, 4 strain, 5 curvature); null: by part. Returns
  // the range over the whole motion.
  colourBy(which) {
    const loads = this.motion.loads;
    this.shadeBy = loads ? which : null;
    for (const t of this.tubes) {
      t.mesh.material.vertexColors = this.shadeBy !== null;
      t.mesh.material.color.set(this.shadeBy === null ? t.colour : 0xffffff);
      t.mesh.material.needsUpdate = true;
    }
    if (this.shadeBy === null) return null;
    let low = Infinity, high = -Infinity;
    for (let i = which; i < loads.values.length; i += LOADS) {
      const v = loads.values[i];
      if (Number.isFinite(v)) (low = Math.min(low, v)), (high = Math.max(high, v));
    }
    if (!(low <= high)) return (this.range = null);
    const signed = low < 0 && high > 0 && Math.min(-low, high) > 1e-3 * Math.max(-low, high), most = Math.max(-low, high);
    this.range = signed ? { low: -most, high: most, signed } : { low: low < 0 ? low : Math.min(0, low), high: high > 0 ? high : 0, signed: false };
    if (this.range.low === this.range.high) this.range.high += 1e-300;
    return this.range;
  }
  // A load of a piece at a time, between the records that are kept.
  loadAt(piece, which, t) {
    const { values, pieces, stride } = this.motion.loads, [i, u] = this.motion.at(t), x = (i + u) / stride, last = values.length / (LOADS * pieces) - 1;
    const k = Math.min(Math.floor(x), last), next = Math.min(k + 1, last), w = Math.min(1, x - k);
    const at = (n) => values[(n * pieces + piece) * LOADS + which];
    return at(k) + (at(next) - at(k)) * w;
  }
  #shadeTube(tube, t) {
    if (this.shadeBy === null || this.shadeBy === undefined || !this.range) return;
    const { low, high, signed } = this.range, c = new T.Color(), value = Array.from({ length: tube.n }, (_, i) => this.loadAt(tube.first + i, this.shadeBy, t));
    for (let i = 0; i < tube.rings; i++) {
      // Values are those in the middle of pieces.
      const x = Math.min(tube.n - 1, Math.max(0, i / tube.cut - 0.5)), k = Math.min(Math.floor(x), tube.n - 1), v = value[k] + (value[Math.min(k + 1, tube.n - 1)] - value[k]) * (x - k);
      if (Number.isFinite(v)) shadeOf((v - low) / (high - low), signed, c);
      else c.set(0x888888);
      for (let j = 0; j < tube.sides; j++) c.toArray(tube.shade.array, 3 * (i * tube.sides + j));
      const cap = i === 0 ? 0 : i === tube.rings - 1 ? tube.caps / 2 : -1;
      for (let j = 0; cap >= 0 && j < tube.caps / 2; j++) c.toArray(tube.shade.array, 3 * (tube.rings * tube.sides + cap + j));
    }
    tube.shade.needsUpdate = true;
  }

  #tube(part, pieces) {
    const beam = pieces[0].kind === "beam", nodes = [pieces[0].on[0], ...pieces.map((s) => s.on[1])];
    const radius = Math.max(pieces[0].size, (beam ? 0.35 : 0.2) * this.r);
    const corners = outline(pieces[0].section), edges = corners?.length ?? 10;
    // Across the axis: of corners two vertices each, since the surface has an edge there; of round ones one.
    const across = corners
      ? corners.flatMap((c, k) => [c, corners[(k + 1) % edges]])
      : Array.from({ length: edges }, (_, k) => [radius * Math.cos((2 * Math.PI * k) / edges), radius * Math.sin((2 * Math.PI * k) / edges)]);
    const sides = across.length, cut = 4, rings = cut * pieces.length + 1, colour = beam ? this.parts.get(part).colour : ROPE;
    const caps = corners ? 2 * edges : 0, all = sides * rings + caps;
    const position = new T.BufferAttribute(new Float32Array(3 * all), 3), index = [];
    for (let i = 0; i + 1 < rings; i++)
      for (let k = 0; k < edges; k++) {
        const a = i * sides + (corners ? 2 * k : k), b = i * sides + (corners ? 2 * k + 1 : (k + 1) % sides);
        index.push(a, b, a + sides, b, b + sides, a + sides);
      }
    for (const face of corners ? T.ShapeUtils.triangulateShape(corners.map((c) => new T.Vector2(...c)), []) : [])
      for (const end of [0, edges]) index.push(...face.map((k) => sides * rings + end + k));
    const shade = new T.BufferAttribute(new Float32Array(3 * all).fill(1), 3);
    const geometry = new T.BufferGeometry().setAttribute("position", position).setAttribute("color", shade).setIndex(index);
    const mesh = this.#mesh(geometry, colour, { side: T.DoubleSide });
    const first = this.pieces ?? 0;
    this.pieces = first + pieces.length;
    this.tubes.push({ mesh, shade, colour, first, n: pieces.length, cut, sides, rings, beam, caps });
    mesh.frustumCulled = false;
    this.#own(part, mesh);
    const own = this.tubes.at(-1);
    this.updates.push((now) => {
      this.#shadeTube(own, now);
      const x = nodes.map((k) => this.groups[k].position);
      const slope = nodes.map((k, i) => {
        const before = x[Math.max(0, i - 1)], after = x[Math.min(nodes.length - 1, i + 1)];
        if (!beam) return after.clone().sub(before).multiplyScalar(i > 0 && i < nodes.length - 1 ? 0.5 : 1);
        const length = i + 1 < nodes.length ? x[i + 1].distanceTo(x[i]) : x[i].distanceTo(x[i - 1]);
        return new T.Vector3(1, 0, 0).applyQuaternion(this.groups[k].quaternion).multiplyScalar(length);
      });
      const p = new T.Vector3(), t = new T.Vector3(), e = new T.Vector3(), f = new T.Vector3();
      for (let i = 0; i < rings; i++) {
        const n = Math.min(Math.floor(i / cut), pieces.length - 1), u = i / cut - n, u2 = u * u, u3 = u2 * u;
        p.set(0, 0, 0).addScaledVector(x[n], 2 * u3 - 3 * u2 + 1).addScaledVector(slope[n], u3 - 2 * u2 + u)
          .addScaledVector(x[n + 1], 3 * u2 - 2 * u3).addScaledVector(slope[n + 1], u3 - u2);
        t.copy(x[n + 1]).sub(x[n]).normalize();
        if (beam) e.set(0, 1 - u, 0).applyQuaternion(this.groups[nodes[n]].quaternion).add(f.set(0, u, 0).applyQuaternion(this.groups[nodes[n + 1]].quaternion));
        else e.set(Math.abs(t.x) < 0.9 ? 1 : 0, Math.abs(t.x) < 0.9 ? 0 : 1, 0);
        e.addScaledVector(t, -e.dot(t)).normalize();
        f.crossVectors(t, e);
        const put = (at, [c, d]) => position.setXYZ(at, p.x + c * e.x + d * f.x, p.y + c * e.y + d * f.y, p.z + c * e.z + d * f.z);
        across.forEach((c, k) => put(i * sides + k, c));
        if (corners && i % (rings - 1) === 0) corners.forEach((c, k) => put(rings * sides + (i ? edges : 0) + k, c));
      }
      position.needsUpdate = true;
      geometry.computeVertexNormals();
      geometry.boundingSphere = null;
    });
  }
}

// Corners of a section, y and z from its middle: a rectangle, or an I with flanges along y; null: round.
export function outline(section) {
  if (!section) return null;
  const [y, z, web, flange] = section.map((length) => 0.5 * length);
  if (!web) return [[-y, -z], [y, -z], [y, z], [-y, z]];
  const in_ = z - 2 * flange;
  return [[-y, -z], [y, -z], [y, -in_], [web, -in_], [web, in_], [y, in_], [y, z], [-y, z], [-y, in_], [-web, in_], [-web, -in_], [-y, -in_]];
}

// Colours of a range from 0 to 1: blue, white, red for values of both signs, else a sequence from blue to yellow.
const SEQUENCE = [0x2c3e8f, 0x2a7fb8, 0x3fb59a, 0xb9d957, 0xfde333].map((c) => new T.Color(c));
const DIVERGING = [0x2b5fb8, 0x9cc3ea, 0xf2f2f2, 0xf0a28a, 0xb5232b].map((c) => new T.Color(c));
export function shadeOf(u, signed, out) {
  const list = signed ? DIVERGING : SEQUENCE, x = Math.min(0.9999, Math.max(0, u)) * (list.length - 1), i = Math.floor(x);
  return out.copy(list[i]).lerp(list[i + 1], x - i);
}

// The cylinder with these moments, of which two are equal, and its axis; null: there is none.
function cylinder(I, mass) {
  for (let axis = 0; axis < 3; axis++) {
    const a = I[(axis + 1) % 3], b = I[(axis + 2) % 3], square = (2 * I[axis]) / mass;
    const length = (6 * (a + b)) / mass - 3 * square;
    if (Math.abs(a - b) > 1e-6 * (a + b) || length < -1e-6 * square || Math.abs(I[axis] - a) < 1e-6 * a) continue;
    return { axis, radius: Math.sqrt(Math.max(0, square)), length: Math.sqrt(Math.max(0, length)) };
  }
  return null;
}

// Principal moments and axes of xx, yy, zz, xy, xz, yz, by Jacobi rotations.
function principal([xx, yy, zz, xy, xz, yz]) {
  const A = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], V = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
  for (let sweep = 0; sweep < 20; sweep++)
    for (const [p, q] of [[0, 1], [0, 2], [1, 2]]) {
      if (Math.abs(A[p][q]) < 1e-14 * (Math.abs(A[p][p]) + Math.abs(A[q][q]))) continue;
      const angle = 0.5 * Math.atan2(2 * A[p][q], A[q][q] - A[p][p]), c = Math.cos(angle), s = Math.sin(angle);
      for (let k = 0; k < 3; k++) [A[k][p], A[k][q]] = [c * A[k][p] - s * A[k][q], s * A[k][p] + c * A[k][q]];
      for (let k = 0; k < 3; k++) [A[p][k], A[q][k]] = [c * A[p][k] - s * A[q][k], s * A[p][k] + c * A[q][k]];
      for (let k = 0; k < 3; k++) [V[k][p], V[k][q]] = [c * V[k][p] - s * V[k][q], s * V[k][p] + c * V[k][q]];
    }
  const x = new T.Vector3(V[0][0], V[1][0], V[2][0]), y = new T.Vector3(V[0][1], V[1][1], V[2][1]);
  return { values: [A[0][0], A[1][1], A[2][2]], axes: new T.Matrix4().makeBasis(x, y, x.clone().cross(y)) };
}

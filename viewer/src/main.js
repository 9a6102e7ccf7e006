// The page of galpha view: the machine, its parts, plots, and the time.
import * as T from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import { gif } from "./film.js";
import { Machine, shadeOf } from "./machine.js";
import { ModeMotion } from "./modes.js";
import { Motion, bytes } from "./motion.js";
import { Plots, short, unit } from "./plots.js";

const $ = (id) => document.getElementById(id);
const data = JSON.parse($("data").textContent);
data.signals.sort((a, b) => a.index - b.index);
const motion = data.modes ? new ModeMotion(data) : new Motion(data);
const machine = data.shapes ? new Machine(data, motion) : null;
const GHOSTS = [0xd9541e, 0x2a9d4a, 0x8e44ad, 0xc9a227, 0x16858c, 0xc0392b, 0x555f6e];
// Other results, drawn over this one in one colour each; where a start moves bodies, the machine as it is given.
const others = (data.others ?? []).map((d, i) => {
  d.signals.sort((a, b) => a.index - b.index);
  const m = new Motion(d);
  return { data: d, motion: m, colour: GHOSTS[i % GHOSTS.length], machine: d.shapes ? new Machine(d, m, GHOSTS[i % GHOSTS.length]) : null };
});
const given = data.given && machine ? new Machine(data, givenMotion(), 0x9aa3ad) : null;
function givenMotion() {
  const poses = new Float32Array(bytes(data.given)), m = new Motion(data);
  m.movers.forEach((mover, k) => mover && Object.assign(mover, { poses: poses.slice(7 * k, 7 * k + 7), turns: null }));
  return m;
}
const first_ = Math.min(motion.start, ...others.map((o) => o.motion.start)), last_ = Math.max(motion.end, ...others.map((o) => o.motion.end));
const state = { t: motion.start, playing: false, speed: 1, loop: true, selected: null, follow: false, trace: false };

// ---- Facts ----

const title = data.title || data.file;
document.title = `${title} – galpha`;
$("title").textContent = title;
const notes = [data.note];
if (data.moves) notes.push(`The start moves bodies to where joints fit (given poses are faint): ${data.moves.trim().replaceAll("\n", "; ")}.`);
if (others.length) notes.push([data, ...others.map((o) => o.data)].map((d, i) => `${i ? "over it in colour" : "in front"}: ${d.file}`).join("; ") + ".");
if (data.meshes?.[1] < data.meshes?.[0]) notes.push(`Meshes are simplified to ${data.meshes[1]} of ${data.meshes[0]} triangles.`);
if (data.status && data.status !== "finished") notes.push(`The run ${data.status === "running" ? "has not ended, or was killed" : data.status === "failed" ? `failed: ${data.failure}` : "was stopped before its end"}.`);
const placeless = !machine || motion.movers.filter(Boolean).length < 2;
if (machine && placeless) notes.push("Nothing in this machine has a place in space.");
if (data.records > motion.n && data.frames !== 0) notes.push(`${motion.n} of ${data.records} records are shown.`);
if (data.left_out) notes.push(`${data.left_out} signals were left out; galpha view FILE NAME includes those named.`);
$("note").textContent = notes.filter(Boolean).join(" ");
$("note").hidden = !$("note").textContent;

// ---- Scene ----

const g = new T.Vector3(...data.gravity);
const inPlane = (m) => m.planar || (m.point && Math.abs(m.poses[2]) < 1e-9 && m.poses.every((v, i) => i % 7 !== 2 || Math.abs(v) < 1e-6 * size));
const size = machine?.size ?? 1;
const flat = motion.movers.some((m) => m?.planar) && motion.movers.every((m, i) => !m || i === 0 || inPlane(m));
const up = g.length() > 0 ? g.clone().multiplyScalar(-1).normalize() : flat ? new T.Vector3(0, 1, 0) : new T.Vector3(0, 0, 1);
const toward = Math.abs(up.y) > 0.9 ? new T.Vector3(0, 0, 1) : Math.abs(up.z) > 0.9 ? new T.Vector3(0, -1, 0) : new T.Vector3(0, 0, 1);
toward.addScaledVector(up, -toward.dot(up)).normalize();
const right = up.clone().cross(toward);
let renderer = null;
try {
  renderer = new T.WebGLRenderer({ canvas: $("canvas"), antialias: true, preserveDrawingBuffer: true });
} catch {
  $("note").textContent += " This browser has no WebGL, so the machine is not drawn.";
  $("note").hidden = false;
}
const scene = new T.Scene();
const camera = new T.PerspectiveCamera(35, 1, 0.01, 1000);
camera.up.copy(up);
const controls = new OrbitControls(camera, $("canvas"));
const sun = new T.DirectionalLight(0xffffff, 2.2), sky = new T.HemisphereLight(0xffffff, 0x8893a3, 1.6);
sky.position.copy(up);
scene.add(sun, sun.target, sky);
if (machine) scene.add(machine.scene);
for (const o of [...others.map((x) => x.machine), given]) if (o) scene.add(o.scene);
machine?.stand(up);
for (const o of [...others.map((x) => x.machine), given]) o?.stand(up);

// The floor: a grid below the machine, or the plane that it rolls or stands on. It follows the camera.
const cell = 10 ** Math.floor(Math.log10(size)) * (size / 10 ** Math.floor(Math.log10(size)) > 4 ? 1 : 0.25);
const cells = 60;
let grid = null;
const floor = machine?.floor ?? { normal: up, point: null };
if (!floor.point && flat) floor.normal = new T.Vector3(0, 0, 1), (floor.point = new T.Vector3(0, 0, -6 * (machine?.r ?? 0)));
if (!floor.point) floor.point = up.clone().multiplyScalar(lowest() - 0.06 * size);

function makeGrid() {
  if (grid) scene.remove(grid);
  const dark = document.documentElement.classList.contains("dark");
  scene.background = new T.Color(dark ? 0x161b22 : 0xeef1f5);
  grid = gridLines(new T.Color(dark ? 0x3a4555 : 0xbfc8d4), scene.background);
  grid.quaternion.setFromUnitVectors(new T.Vector3(0, 1, 0), floor.normal);
  scene.add(grid);
}

// Squares in the plane y = 0 that fade away from the middle.
function gridLines(near, far) {
  const place = [], colour = [], half = cells / 2, c = new T.Color();
  const add = (i, k) => {
    place.push(i * cell, 0, k * cell);
    c.copy(near).lerp(far, Math.min(1, Math.hypot(i, k) / half)).toArray(colour, colour.length);
  };
  for (let i = -half; i <= half; i++)
    for (let k = -half; k < half; k++) add(i, k), add(i, k + 1), add(k, i), add(k + 1, i);
  const geometry = new T.BufferGeometry().setAttribute("position", new T.Float32BufferAttribute(place, 3)).setAttribute("color", new T.Float32BufferAttribute(colour, 3));
  return new T.LineSegments(geometry, new T.LineBasicMaterial({ vertexColors: true }));
}

function moveGrid() {
  const inside = controls.target.clone().sub(floor.point).applyQuaternion(grid.quaternion.clone().invert());
  inside.set(Math.round(inside.x / cell) * cell, 0, Math.round(inside.z / cell) * cell);
  grid.position.copy(inside.applyQuaternion(grid.quaternion)).add(floor.point);
}

// The machine at the present time, without what reaches far: planes, lines.
function machineBounds() {
  const box = new T.Box3();
  if (machine?.parts.size > 200) { // origins are enough, and much faster
    for (const g of machine.groups) if (g) box.expandByPoint(g.position);
    return box.expandByScalar(4 * machine.r);
  }
  machine?.scene.updateMatrixWorld(true);
  for (const p of machine?.parts.values() ?? [])
    for (const o of p.objects) if (o.visible && p.name !== "ground" && !o.userData.far && !o.userData.kind) box.expandByObject(o);
  for (const o of others) for (const g of o.machine?.groups.slice(1) ?? []) if (g && box.distanceToPoint(g.position) < 3 * size) box.expandByPoint(g.position);
  if (box.isEmpty()) box.setFromCenterAndSize(new T.Vector3(), new T.Vector3(size, size, size));
  return box;
}

// Height of the lowest point of the motion.
function lowest() {
  let low = Infinity;
  const corner = (b) => [b.min, b.max].flatMap((x) => [b.min, b.max].flatMap((y) => [b.min, b.max].map((z) => up.dot(new T.Vector3(x.x, y.y, z.z)))));
  for (let i = 0; machine && i < 24; i++) {
    machine.move(motion.start + ((motion.end - motion.start) * i) / 23);
    low = Math.min(low, ...corner(machineBounds()));
  }
  machine?.move(state.t);
  return Number.isFinite(low) ? low : 0;
}

// Everything over the whole motion, where that is not much larger than the machine is at the start, or at any time as
// that of a rope is; else what moves, at the present time.
function framed() {
  const length = (b) => (b.isEmpty() ? 0 : b.getSize(new T.Vector3()).length());
  const now = machineBounds(), box = now.clone();
  let most = length(now);
  for (let i = 0; machine && i < 24; i++) {
    machine.move(motion.start + ((motion.end - motion.start) * i) / 23);
    const then = machineBounds();
    most = Math.max(most, length(then));
    box.union(then);
  }
  machine?.move(state.t);
  // Shapes on the ground belong to the machine, as a bowl does to its ball, but not a hall around it.
  for (const b of standing()) if (length(b) < 4 * Math.max(length(box), size)) now.union(b), box.union(b);
  const first = length(now), way = length(box), whole = way < 3 * first || (way < 2 * most && way < 5 * first) || machine?.tiny;
  if (whole) return { box, whole };
  const moving = movingBounds();
  return { box: length(moving) > 0 ? moving : machineBounds(), whole };
}

function standing() {
  return (machine?.parts.get("ground")?.objects ?? []).filter((o) => o.userData.given).map((o) => new T.Box3().setFromObject(o));
}

// Without what is fixed to the ground: the foot of a rail of which the body has gone.
function movingBounds() {
  const box = new T.Box3();
  for (const g of machine?.groups.slice(1) ?? [])
    if (g) machine.parts.size > 200 ? box.expandByPoint(g.position) : box.expandByObject(g);
  return machine?.parts.size > 200 ? box.expandByScalar(4 * machine.r) : box;
}

const directions = { iso: toward.clone().multiplyScalar(1.2).addScaledVector(right, 0.9).addScaledVector(up, 0.6), front: toward, right, top: up.clone().addScaledVector(toward, 1e-3) };
let direction = directions[flat ? "front" : "iso"].clone();

function look(name) {
  if (name) direction = directions[name].clone();
  const { box } = framed(), centre = box.getCenter(new T.Vector3()), x = new T.Vector3(), y = new T.Vector3(), d = new T.Vector3();
  direction.normalize();
  x.crossVectors(camera.up, direction).normalize();
  y.crossVectors(direction, x);
  // The least distance from which all corners of the box are within the picture.
  const high = Math.tan((0.5 * Math.PI * camera.fov) / 180), wide = high * camera.aspect;
  let distance = 1e-6 * size;
  for (let i = 0; i < 8; i++) {
    d.set(i & 1 ? box.max.x : box.min.x, i & 2 ? box.max.y : box.min.y, i & 4 ? box.max.z : box.min.z).sub(centre);
    distance = Math.max(distance, d.dot(direction) + Math.abs(d.dot(x)) / wide, d.dot(direction) + Math.abs(d.dot(y)) / high);
  }
  distance *= 1.12;
  controls.target.copy(centre);
  camera.position.copy(centre).addScaledVector(direction, distance);
  camera.near = distance / 200;
  camera.far = distance * 100;
  camera.updateProjectionMatrix();
  controls.update();
}

// ---- Time ----

const followed = new T.Vector3(), before = new T.Vector3();

function targetPlace(out) {
  const p = machine?.parts.get(state.selected) ?? [...(machine?.parts.values() ?? [])].find((q) => /body|beam|cable|point/.test(q.type));
  if (!p) return out.set(0, 0, 0);
  return out.fromArray(p.at).applyMatrix4(machine.groups[p.on].matrixWorld);
}

function seek(t) {
  targetPlace(before);
  state.t = Math.min(last_, Math.max(first_, t));
  machine?.move(Math.min(motion.end, Math.max(motion.start, state.t)));
  for (const o of others) o.machine?.move(Math.min(o.motion.end, Math.max(o.motion.start, state.t)));
  if (state.follow && machine) {
    const d = targetPlace(followed).sub(before);
    controls.target.add(d);
    camera.position.add(d);
  }
  $("slider").value = state.t;
  $("clock").textContent = data.modes ? `phase ${Math.round(360 * state.t)}°` : data.analysis === "static" ? `record ${state.t.toFixed(1)} / ${motion.end}` : `${state.t.toFixed(decimals)} / ${last_.toFixed(decimals)} s`;
  plots.move(state.t);
  showValues();
}
const decimals = Math.max(0, Math.min(6, 3 - Math.floor(Math.log10(Math.max(1e-9, motion.end - motion.start)))));

function setPlaying(on) {
  state.playing = on && last_ > first_;
  if (state.playing && state.t >= last_) seek(first_);
  $("play").innerHTML = state.playing ? "&#10074;&#10074;" : "&#9654;";
  clock = null;
}
let clock = null;

function stepBy(n) {
  const [i, u] = motion.at(state.t);
  const k = Math.max(0, Math.min(motion.n - 1, n > 0 ? i + n : u > 0 && n === -1 ? i : i + n));
  seek(motion.time[u === 1 && n > 0 ? Math.min(motion.n - 1, k + 1) : k]);
}

function nextEvent() {
  const next = data.events.find(([t]) => t > state.t + 1e-9 * (motion.end - motion.start)) ?? data.events[0];
  if (next) seek(next[0]), flash(next[1]);
}
function lastEvent() {
  const before = data.events.findLast(([t]) => t < state.t - 1e-9 * (motion.end - motion.start)) ?? data.events.at(-1);
  if (before) seek(before[0]), flash(before[1]);
}
// A text over the picture for two seconds.
let fading = null;
function flash(text) {
  $("flash").textContent = text;
  $("flash").hidden = false;
  clearTimeout(fading);
  fading = setTimeout(() => ($("flash").hidden = true), 2000);
}

// ---- Parts ----

// Headings of the list, each with the types of its parts; a part is under the first that fits.
const KINDS = [["bodies", /body|mass point|scalar|beam|cable|modal/], ["joints", /^(fixed|revolute|prismatic|cylindrical|spherical|universal|planar|point_on_line|point_on_plane|distance|rod|parallel|perpendicular|screw|gear|rack_and_pinion|constant_velocity|slider|drive|constraint)$/],
               ["forces", /spring|actuator|friction|bushing|force|load|contact|stop|tyre|rolling|collision/], ["frames", /marker|ground|road/], ["others", /^(energy|signals|collider|shape|element)$/], ["blocks", /./]];
const headingOf = (p) => KINDS.find(([, pattern]) => pattern.test(p.type))[0];

function parts() {
  const all = new Map([...(machine?.parts.values() ?? [])].map((p) => [p.name, p]));
  // Parts without a shape, as motors and controllers: those that have signals.
  for (const name of motion.signals.keys()) {
    for (let i = name.length; i > 0; i = name.lastIndexOf(".", i - 1)) {
      const part = name.slice(0, i), type = data.kinds?.[part];
      if (type && !all.has(part)) all.set(part, { name: part, type });
      if (type) break;
    }
  }
  for (const name of motion.signals.keys()) {
    const part = partOf(name, all);
    if (!all.has(part)) all.set(part, { name: part, type: data.kinds?.[part] ?? (part === "energy" ? "energy" : "signals") });
  }
  return all;
}
function partOf(signal, all) {
  for (let i = signal.length; i > 0; i = signal.lastIndexOf(".", i - 1)) if (all.has(signal.slice(0, i))) return signal.slice(0, i);
  return signal.includes(".") ? signal.slice(0, signal.lastIndexOf(".")) : signal;
}
const known = parts();
const ofPart = new Map();
for (const name of motion.signals.keys()) {
  const part = partOf(name, known);
  (ofPart.get(part) ?? ofPart.set(part, []).get(part)).push(name);
}

function showTree() {
  const tree = $("tree"), find = $("search").value.toLowerCase();
  tree.replaceChildren();
  const left = [...known.values()].filter((p) => p.name.toLowerCase().includes(find));
  for (const heading of ["bodies", "joints", "forces", "blocks", "frames", "others"]) {
    const mine = left.filter((p) => headingOf(p) === heading);
    if (!mine.length) continue;
    const h = document.createElement("h2");
    h.textContent = heading;
    tree.append(h);
    for (const p of mine) {
      const b = document.createElement("button"), small = document.createElement("small");
      small.textContent = p.type;
      b.append(small, p.name);
      b.setAttribute("role", "treeitem");
      b.setAttribute("aria-selected", p.name === state.selected);
      b.dataset.part = p.name;
      b.onclick = () => select(p.name);
      tree.append(b);
    }
  }
}

function select(name) {
  if (state.selected === name) return;
  light(state.selected, 0);
  state.selected = name;
  light(name, 1);
  for (const b of $("tree").querySelectorAll("button")) {
    const on = b.dataset.part === name;
    b.setAttribute("aria-selected", on);
    if (on) b.scrollIntoView({ block: "nearest" });
  }
  makeValues();
  showTrace();
}

function light(name, on) {
  for (const o of machine?.parts.get(name)?.objects ?? [])
    o.traverse((m) => {
      if (m.material?.emissive) m.material.emissive.set(on ? 0xff6a00 : 0), (m.material.emissiveIntensity = on ? 0.55 : 0);
    });
}

let cells_ = [];
function makeValues() {
  const box = $("values"), p = known.get(state.selected);
  box.replaceChildren();
  cells_ = [];
  if (!p) return;
  const h = document.createElement("h3"), small = document.createElement("small"), table = document.createElement("table");
  h.textContent = p.name;
  small.textContent = p.type + (p.mass > 0 ? `, ${short(p.mass)} kg` : "") + (p.lost ? ", its motion is not in the file" : "");
  box.append(h, small, table);
  for (const name of ofPart.get(p.name) ?? []) {
    const s = motion.signals.get(name), row = table.insertRow();
    row.dataset.signal = name;
    row.title = `${name}, from ${short(s.low)} to ${short(s.high)} ${unit(s.unit)}; click to plot`;
    row.insertCell().textContent = name.slice(p.name.length + 1) || name;
    cells_.push([name, row.insertCell()]);
    row.insertCell().textContent = unit(s.unit);
    row.onclick = () => plots.toggle(name);
  }
  markPlotted();
  showValues();
}
function showValues() {
  for (const [name, cell] of cells_) cell.textContent = short(motion.value(name, state.t));
}
function markPlotted() {
  for (const row of $("values").querySelectorAll("tr[data-signal]")) row.classList.toggle("plotted", plots.has(row.dataset.signal));
}

// The path of the selected part.
let path = null;
function showTrace() {
  if (path) scene.remove(path);
  path = null;
  const p = machine?.parts.get(state.selected);
  if (!state.trace || !p) return;
  const m = motion.movers[p.on], x = new T.Vector3(), q = new T.Quaternion(), points = [];
  for (let i = 0; i < motion.n; i++) {
    motion.pose(m, i, 0, x, q);
    points.push(new T.Vector3().fromArray(p.at).applyQuaternion(q).add(x));
  }
  path = new T.Line(new T.BufferGeometry().setFromPoints(points), new T.LineBasicMaterial({ color: 0xff6a00 }));
  scene.add(path);
}

// ---- Pointer ----

const ray = new T.Raycaster();
ray.params.Line.threshold = 0.01 * size;
function partAt(e) {
  const r = $("canvas").getBoundingClientRect();
  ray.setFromCamera(new T.Vector2(((e.clientX - r.left) / r.width) * 2 - 1, 1 - ((e.clientY - r.top) / r.height) * 2), camera);
  const hits = ray.intersectObjects(machine ? [machine.scene] : [], true).filter((h) => shown(h.object) && h.object.userData.part);
  const solid = hits.find((h) => !h.object.material.transparent) ?? hits[0];
  return solid?.object.userData.part ?? null;
}
function shown(o) {
  for (; o; o = o.parent) if (!o.visible) return false;
  return true;
}
let down = null;
$("canvas").addEventListener("pointerdown", (e) => (down = [e.clientX, e.clientY]));
$("canvas").addEventListener("pointerup", (e) => {
  if (down && Math.hypot(e.clientX - down[0], e.clientY - down[1]) < 5) select(partAt(e));
  down = null;
});
$("canvas").addEventListener("pointermove", (e) => {
  const part = e.buttons || e.pointerType === "touch" ? null : partAt(e), r = $("stage").getBoundingClientRect();
  $("hover").style.display = part ? "block" : "none";
  $("hover").textContent = part ?? "";
  $("hover").style.left = `${Math.min(e.clientX - r.left + 12, r.width - 90)}px`;
  $("hover").style.top = `${e.clientY - r.top + 12}px`;
});

// ---- Buttons and keys ----

const toggle = (id, f) => ($(id).onclick = () => {
  const on = $(id).getAttribute("aria-pressed") !== "true";
  $(id).setAttribute("aria-pressed", on);
  f(on);
});
const plots = new Plots(motion, $("panels"), seek, () => markPlotted(), others.map((o) => o.motion));
$("play").onclick = () => setPlaying(!state.playing);
$("slider").min = first_;
$("slider").max = last_ > first_ ? last_ : first_ + 1;
$("slider").oninput = () => seek(Number($("slider").value));
for (const name of Object.keys(directions)) $(`view-${name}`).onclick = () => look(name);
$("fit").onclick = () => look();
toggle("follow", (on) => (state.follow = on));
toggle("trace", (on) => ((state.trace = on), showTrace()));
toggle("masses", (on) => machine?.masses.forEach((m) => (m.visible = on)));
toggle("loop", (on) => (state.loop = on));
toggle("forces", (on) => (machine?.showArrows(on), seek(state.t)));
$("forces").hidden = !machine?.arrows.some((a) => !a.shown);
toggle("ghosts", (on) => [...others.map((o) => o.machine), given].forEach((o) => o && (o.scene.visible = on)));
$("ghosts").hidden = !others.length && !given;
$("ghosts").textContent = given ? "given" : "others";
document.documentElement.classList.toggle("placeless", (placeless || !renderer) && data.signals.length > 0);
$("panels-button").onclick = () => document.documentElement.classList.toggle("bare");
$("event").onclick = nextEvent;
$("event").hidden = data.events.length === 0;
$("search").oninput = showTree;
$("theme").onclick = () => setDark(!document.documentElement.classList.contains("dark"));
function setDark(on) {
  document.documentElement.classList.toggle("dark", on);
  makeGrid();
  if (plots.names.length) plots.draw();
}

// ---- Colours of beams and cables ----

const LOADS = [["axial force", "N"], ["shear force", "N"], ["torque", "N·m"], ["bending moment", "N·m"], ["strain", "–"], ["curvature", "1/m"]];
$("colour").hidden = !machine?.tubes.length || !motion.loads;
if (!$("colour").hidden) {
  const beams = machine.tubes.some((t) => t.beam);
  $("colour").add(new Option("colour by part", ""));
  LOADS.forEach(([name], i) => (beams || i === 0 || i === 4) && $("colour").add(new Option(`${name}`, i)));
}
function setColour(which) {
  const range = machine?.colourBy(which);
  $("colour").value = which ?? "";
  $("legend").hidden = which === null || !range;
  if (range) {
    const c = new T.Color(), stops = Array.from({ length: 9 }, (_, i) => `#${shadeOf(i / 8, range.signed, c).getHexString()}`);
    $("legend").querySelector("b").textContent = `${LOADS[which][0]} [${LOADS[which][1]}]`;
    $("legend").querySelector("i").style.background = `linear-gradient(to right, ${stops.join()})`;
    [...$("legend").querySelectorAll("span")].forEach((e, i) => (e.textContent = short(range.low + (range.high - range.low) * (i / 2))));
  }
  seek(state.t);
}
$("colour").onchange = () => setColour($("colour").value === "" ? null : Number($("colour").value));

// ---- Modes ----

$("modes").hidden = !data.modes;
if (data.modes) {
  data.modes.forEach((m, i) => {
    const damped = m.damping === null ? "" : `, ${short(100 * m.damping)} %`;
    const text = m.zero ? "0 Hz" : m.eigenvalue[1] === 0 ? `${short(m.eigenvalue[0])} 1/s` : `${short(m.frequency)} Hz${damped}`;
    $("mode").add(new Option(`${i + 1}: ${text}${m.eigenvalue[0] > 1e-9 * Math.hypot(...m.eigenvalue) && !m.zero ? ", grows" : ""}`, i));
  });
  $("mode").onchange = () => setMode(Number($("mode").value));
  $("amplitude").oninput = () => setMode(motion.chosen);
}
// A mode with the chosen amplitude: at 1, 15 % of the machine's size, or 0.5 rad.
function setMode(number) {
  motion.choose(number);
  const { far, turned } = motion.extent(), most = Math.max(far / (0.15 * size), turned / 0.5);
  motion.amplitude = most > 0 ? Number($("amplitude").value) / most : 0;
  $("mode").value = number;
  const m = data.modes[number];
  $("mode-facts").textContent = m ? `eigenvalue ${short(m.eigenvalue[0])}${m.eigenvalue[1] ? ` ± ${short(Math.abs(m.eigenvalue[1]))} i` : ""} 1/s; amplitude ${short(motion.amplitude * far)} m, ${short(motion.amplitude * turned)} rad` : "";
  seek(state.t);
  showTrace();
}

const speeds = [0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 100];
for (const s of speeds) $("speed").add(new Option(`${s}×`, s));
function setSpeed(s) {
  state.speed = s;
  $("speed").value = s;
}
$("speed").onchange = () => setSpeed(Number($("speed").value));
// A run that is over within a blink, or takes minutes, begins slower or faster.
const span = last_ - first_;
setSpeed(speeds.findLast((s) => span / s >= 3 || s === speeds[0]) > 1 ? (span > 60 ? speeds.findLast((s) => span / s >= 20) : 1) : speeds.findLast((s) => span / s >= 3) ?? speeds[0]);

function save(url, name) {
  const a = document.createElement("a");
  a.href = url;
  a.download = name;
  a.click();
}
$("picture").onclick = () => {
  render();
  save($("canvas").toDataURL("image/png"), "machine.png");
};
let film = null;
$("film").onclick = () => {
  if (film) return film.stop();
  const pieces = [];
  film = new MediaRecorder($("canvas").captureStream(30), { mimeType: "video/webm" });
  state.filmed = 0; // bytes
  film.ondataavailable = (e) => (pieces.push(e.data), (state.filmed += e.data.size));
  film.onstop = () => {
    film = null;
    $("film").setAttribute("aria-pressed", false);
    save(URL.createObjectURL(new Blob(pieces, { type: "video/webm" })), "machine.webm");
  };
  $("film").setAttribute("aria-pressed", true);
  film.start(250);
};
$("film").hidden = typeof MediaRecorder === "undefined";

// One pass of the motion as a GIF, 15 frames for each second of it as it is played, at most 150.
let encoding = false;
$("gif").onclick = async () => {
  if (encoding) return;
  encoding = true;
  $("gif").setAttribute("aria-pressed", true);
  setPlaying(false);
  const before = state.t, seconds = span / state.speed, n = Math.max(2, Math.min(150, Math.round(15 * seconds)));
  const blob = await gif($("canvas"), n, Math.max(20, Math.round((1000 * seconds) / n)), (i) => (seek(first_ + (span * i) / (data.modes ? n : n - 1)), render()),
                         (u) => flash(`GIF: ${Math.round(100 * u)} %`));
  window.galpha.lastGif = blob;
  save(URL.createObjectURL(blob), "machine.gif");
  seek(before);
  $("gif").setAttribute("aria-pressed", false);
  encoding = false;
};

const press = (id) => () => $(id).click();
const KEYS = { " ": press("play"), ArrowRight: () => stepBy(1), ArrowLeft: () => stepBy(-1), Home: () => seek(first_), End: () => seek(last_),
               "+": () => setSpeed(speeds[Math.min(speeds.length - 1, speeds.indexOf(state.speed) + 1)]), "-": () => setSpeed(speeds[Math.max(0, speeds.indexOf(state.speed) - 1)]),
               l: press("loop"), d: press("theme"), f: press("fit"), c: press("follow"), t: press("trace"), m: press("masses"), e: nextEvent, b: lastEvent, g: press("gif"), v: press("forces"), o: press("ghosts"), h: press("panels-button"), p: press("picture"), r: press("film"),
               1: press("view-iso"), 2: press("view-front"), 3: press("view-right"), 4: press("view-top"), Escape: () => select(null) };
addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || e.target.matches?.("input[type=search], select")) return;
  const act = KEYS[e.key] ?? KEYS[e.key.toLowerCase()];
  if (!act) return;
  e.preventDefault();
  act();
});

for (const [t, name] of span > 0 ? data.events.slice(0, 200) : []) {
  const mark = document.createElement("i");
  mark.style.left = `${(100 * (t - motion.start)) / span}%`;
  mark.title = name;
  $("marks").append(mark);
}

// ---- Drawing ----

function resize() {
  const { clientWidth: w, clientHeight: h } = $("stage");
  if (!renderer || !w || !h) return;
  renderer.setPixelRatio(Math.min(2, devicePixelRatio));
  renderer.setSize(w, h, false);
  camera.aspect = w / h;
  camera.updateProjectionMatrix();
  render();
}
function render() {
  if (!renderer) return;
  moveGrid();
  sun.position.copy(camera.position).addScaledVector(up, 2 * size).addScaledVector(right, size);
  sun.target.position.copy(controls.target);
  renderer.render(scene, camera);
}
function frame(now) {
  if (state.playing) {
    const t = state.t + (clock === null ? 0 : (0.001 * (now - clock)) * state.speed);
    clock = now;
    if (t <= last_) seek(t);
    else if (state.loop) seek(first_ + ((t - first_) % (span || 1)));
    else seek(last_), setPlaying(false);
  }
  controls.update();
  render();
  requestAnimationFrame(frame);
}

document.documentElement.classList.toggle("dark", matchMedia("(prefers-color-scheme: dark)").matches);
makeGrid();
showTree();
const first = data.signals.filter((s) => s.chosen).map((s) => s.name);
plots.names = first.length ? first.slice(0, 24) : firstSignals();
plots.draw();
new ResizeObserver(resize).observe($("stage"));
resize();
look();
if (machine && motion.n > 1 && !framed().whole) $("follow").click();
for (const id of ["play", "slider", "speed", "loop", "gif"]) $(id).disabled = motion.n < 2 && !others.length;
if (motion.n < 2) $("parts").querySelector("#values").textContent = "";
seek(first_);
if (data.modes) setMode(motion.chosen), setSpeed(0.5), setPlaying(true);
if (location.hash === "#playing" && !matchMedia("(prefers-reduced-motion: reduce)").matches) setPlaying(true);
if (window.self !== window.top) embed();
requestAnimationFrame(frame);

// In a page of others the machine has the room, and the wheel and a finger scroll that page, until the machine is clicked.
function embed() {
  document.documentElement.classList.add("bare", "embedded");
  controls.enableZoom = false;
  $("canvas").style.touchAction = "pan-y";
  $("canvas").addEventListener("pointerdown", () => (controls.enableZoom = true));
  document.documentElement.addEventListener("pointerleave", () => (controls.enableZoom = false));
}

// ---- While a run goes on: the page is written anew and reloads itself, with time, camera and plots as they are ----

if (data.live) {
  try {
    const kept = JSON.parse(sessionStorage.getItem("galpha") ?? "null");
    if (kept) {
      camera.position.fromArray(kept.camera);
      controls.target.fromArray(kept.target);
      plots.names = kept.names.filter((n) => motion.signals.has(n));
      plots.draw();
      select(kept.selected);
      seek(kept.atEnd ? last_ : kept.t);
    } else {
      seek(last_);
    }
  } catch { /* a browser that keeps nothing: the page starts anew */ }
  if (data.status === "running") setTimeout(reload, 1000 * data.live);
}
function reload() {
  try {
    sessionStorage.setItem("galpha", JSON.stringify({ camera: camera.position.toArray(), target: controls.target.toArray(), names: plots.names,
                                                      selected: state.selected, t: state.t, atEnd: state.t >= last_ }));
  } catch { /* as above */ }
  location.reload();
}

// What is plotted unless signals are named: coordinates of joints, else positions of the first body.
function firstSignals() {
  const moving = (s) => s.high - s.low > 1e-9 * Math.max(Math.abs(s.high), Math.abs(s.low), 1e-3);
  // A displacement that is small beside the machine, as of the end of a bent beam, is not what one looks at first.
  const small = (s) => machine && s.unit === "m" && /\.displacement$/.test(s.name) && s.high - s.low < 1e-3 * size;
  const names = [...motion.signals.values()].filter((s) => moving(s) && !small(s)).map((s) => s.name);
  const alike = (a, b) => motion.signals.get(a).low === motion.signals.get(b).low && motion.signals.get(a).high === motion.signals.get(b).high;
  const choices = [/\.(angle|displacement)$/, /\.[xyz]$/, /./].map((r) => {
    const fit = names.filter((n) => r.test(n));
    return fit.filter((n, i) => !fit.slice(0, i).some((m) => alike(n, m))).slice(0, 3);
  });
  return choices.find((c) => c.length) ?? [];
}

// For tests: the state of the page, and where a part is on the screen.
window.galpha = {
  T,
  state, motion, machine, others, given, plots, setColour, setMode, seek, select, look, scene, camera, controls,
  project(name) {
    const p = machine.parts.get(name), v = new T.Vector3().fromArray(p.at).applyMatrix4(machine.groups[p.on].matrixWorld).project(camera);
    const r = $("canvas").getBoundingClientRect();
    return [r.left + (0.5 + 0.5 * v.x) * r.width, r.top + (0.5 - 0.5 * v.y) * r.height];
  },
  place(name) {
    const p = machine.parts.get(name);
    return new T.Vector3().fromArray(p.at).applyMatrix4(machine.groups[p.on].matrixWorld).toArray();
  },
};

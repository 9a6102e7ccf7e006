// Solids of shapes and colliders as geometries of three.js, about z where they have an axis.
import * as T from "three";

function floats(text, Kind) {
  const letters = atob(text), out = new Uint8Array(letters.length);
  for (let i = 0; i < out.length; i++) out[i] = letters.charCodeAt(i);
  return new Kind(out.buffer);
}

function tube(outer, inner, length) {
  const h = length / 2, profile = [[inner, -h], [outer, -h], [outer, h], [inner, h], [inner, -h]].map(([x, y]) => new T.Vector2(x, y));
  const parts = profile.slice(1).map((b, i) => new T.LatheGeometry([profile[i], b], 48));
  return merged(parts);
}

// One geometry of several.
function merged(list) {
  const position = [], normal = [], index = [];
  for (const g of list) {
    const first = position.length / 3;
    position.push(...g.attributes.position.array);
    normal.push(...g.attributes.normal.array);
    for (const k of g.index.array) index.push(first + k);
  }
  return new T.BufferGeometry().setAttribute("position", new T.Float32BufferAttribute(position, 3))
    .setAttribute("normal", new T.Float32BufferAttribute(normal, 3)).setIndex(index);
}

function mesh(s) {
  const g = new T.BufferGeometry().setAttribute("position", new T.BufferAttribute(floats(s.points, Float32Array), 3));
  g.setIndex(new T.BufferAttribute(floats(s.triangles, Uint32Array), 1));
  g.computeVertexNormals();
  return g;
}

// The geometry of a solid; null: the shape is none.
export function solid(s) {
  const [a, b, c] = s.dimension ?? [0, 0, 0], R = s.size, turn = (g) => g.rotateX(Math.PI / 2);
  switch (s.kind) {
    case "box": return new T.BoxGeometry(a, b, c);
    case "cylinder": return turn(new T.CylinderGeometry(R, R, a, 48));
    case "capsule": return turn(new T.CapsuleGeometry(R, a, 12, 32));
    case "tube": return turn(tube(R, b, a));
    case "cone": return turn(new T.CylinderGeometry(b, R, a, 48));
    case "sphere": return new T.SphereGeometry(R, 40, 28);
    case "mesh": return mesh(s);
    default: return null;
  }
}

// Corners of a box around the solid, for measuring.
export function reach(s) {
  const [a, b, c] = s.dimension ?? [0, 0, 0], R = s.size;
  if (s.kind === "box") return [a / 2, b / 2, c / 2];
  if (s.kind === "mesh") {
    const box = new T.Box3().setFromArray(floats(s.points, Float32Array));
    return [0, 1, 2].map((i) => Math.max(Math.abs(box.min.getComponent(i)), Math.abs(box.max.getComponent(i))));
  }
  if (["cylinder", "tube", "cone"].includes(s.kind)) return [R, R, a / 2];
  if (s.kind === "capsule") return [R, R, R + a / 2];
  return s.kind === "wheel" ? [R, R, R] : ["sphere", "disk"].includes(s.kind) ? [R, R, s.kind === "disk" ? 0 : R] : null;
}

// Heights of a road over its plane, as a surface, lighter where it is high.
export function road(r) {
  const z = floats(r.height, Float32Array), g = new T.BufferGeometry(), position = [], index = [], shade = [];
  const known = z.filter(Number.isFinite), low = known.reduce((a, b) => Math.min(a, b), Infinity), high = known.reduce((a, b) => Math.max(a, b), -Infinity);
  const flat = new T.Color(0x858c95), top = new T.Color(0xf0c878), c = new T.Color();
  for (let i = 0; i < r.nx; i++)
    for (let j = 0; j < r.ny; j++) {
      const h = z[i * r.ny + j];
      position.push(r.from[0] + ((r.to[0] - r.from[0]) * i) / (r.nx - 1), r.from[1] + ((r.to[1] - r.from[1]) * j) / (r.ny - 1), Number.isFinite(h) ? h : 0);
      c.copy(flat).lerp(top, high > low && Number.isFinite(h) ? (h - low) / (high - low) : 0).toArray(shade, shade.length);
      if (i + 1 === r.nx || j + 1 === r.ny) continue;
      const k = i * r.ny + j, corners = [k, k + r.ny, k + r.ny + 1, k + 1];
      if (corners.every((c) => Number.isFinite(z[c]))) index.push(k, k + r.ny, k + r.ny + 1, k, k + r.ny + 1, k + 1);
    }
  g.setAttribute("position", new T.Float32BufferAttribute(position, 3)).setAttribute("color", new T.Float32BufferAttribute(shade, 3)).setIndex(index);
  g.computeVertexNormals();
  return g;
}

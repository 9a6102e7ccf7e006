// tests/viewer/run.mjs PROGRAM CHROMIUM MODELS WORK: pages of galpha view in a real browser.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, openSync, readFileSync, rmSync, statSync, writeFileSync, writeSync, closeSync } from "node:fs";
import { join } from "node:path";
import { digest } from "../../viewer/digest.mjs";
import { Browser } from "./browser.mjs";

const [program, chromium, models, work] = process.argv.slice(2);
rmSync(work, { recursive: true, force: true });
mkdirSync(work, { recursive: true });

let number = 0, failed = 0;
function check(name, good, more = "") {
  console.log(`${good ? "ok" : "not ok"} ${++number} - ${name}`);
  if (!good) failed++, console.log(`# ${more}`);
}
function galpha(...words) {
  const { status, stdout, stderr } = spawnSync(program, words, { cwd: work, encoding: "utf8" });
  return { code: status, out: stdout, err: stderr };
}
const url = (name) => "file://" + encodeURI(join(work, name));
const near = (a, b, scale = 1) => Math.abs(a - b) <= 1e-6 * Math.max(scale, Math.abs(b));
const pause = (ms) => new Promise((done) => setTimeout(done, ms));
async function until(page, condition, tries = 100) {
  for (let i = 0; i < tries; i++) {
    if (await page.run(condition).catch(() => false)) return true;
    await pause(50);
  }
  return false;
}

// Records of the result, by name.
function table(file) {
  const lines = galpha("export", file, "--csv", "-").out.trim().split("\n").map((l) => l.split(","));
  return new Map(lines[0].map((head, k) => [head.replace(/ \[.*/, ""), lines.slice(1).map((l) => Number(l[k]))]));
}

// Part of the picture that is not background.
const PAINTED = `(() => {
  const from = document.getElementById("canvas"), to = document.createElement("canvas");
  to.width = from.width, to.height = from.height;
  const c = to.getContext("2d");
  c.drawImage(from, 0, 0);
  const d = c.getImageData(0, 0, to.width, to.height).data;
  let n = 0;
  for (let i = 0; i < d.length; i += 4) n += Math.max(d[i], d[i + 1], d[i + 2]) - Math.min(d[i], d[i + 1], d[i + 2]) > 40;
  return n / (d.length / 4);
})()`;

async function withPage(browser, name, size, f) {
  const page = await browser.open(url(name), ...size);
  try {
    await f(page);
  } finally {
    check(`${name}: no error in the console`, page.errors.length === 0, page.errors.join(" | "));
    check(`${name}: nothing is requested from anywhere`, page.requests.every((r) => r === url(name) || r.startsWith("data:") || r.startsWith("blob:")), page.requests.join(" "));
    await page.close();
  }
}

const desk = [1200, 760], phone = [390, 800, true];

async function fourBar(browser) {
  galpha("run", "-q", join(models, "four_bar.yaml"));
  const view = galpha("view", "four_bar.h5", "coupler.x", "A.fx", "-o", "four_bar.html");
  check("a page is written", view.code === 0 && /four_bar.html: \d+ of \d+ records/.test(view.out), view.err + view.out);
  check("it is small", statSync(join(work, "four_bar.html")).size < 5e6);
  const made = digest(join(import.meta.dirname ?? new URL(".", import.meta.url).pathname, "../../viewer"));
  check("viewer.html is made from the sources as they are", readFileSync(join(work, "four_bar.html"), "utf8").includes(`content="galpha ${made}"`), "cd viewer && npm ci && npm run build");
  const file = table("four_bar.h5"), time = file.get("time"), last = time.length - 1;
  await withPage(browser, "four_bar.html", desk, async (page) => {
    check("the scene is not blank", await until(page, `${PAINTED} > 0.005`), String(await page.run(PAINTED)));
    const plotted = await page.run("galpha.plots.panels.map((p) => [p.names, p.plot.data.map((d) => Array.from(d))])");
    check("the signals named are plotted", plotted.map(([n]) => n.join()).join() === "coupler.x,A.fx", JSON.stringify(plotted.map(([n]) => n)));
    for (const [[name], [t, y]] of plotted) {
      const truth = file.get(name), scale = Math.max(...truth.map(Math.abs));
      check(`${name}: plotted values are those of the file`, t.length === time.length && t.every((v, i) => v === time[i]) && y.every((v, i) => near(v, truth[i], scale)));
    }
    for (const k of [0, Math.floor(last / 3), last]) {
      await page.run(`(() => { const s = document.getElementById("slider"); s.value = ${time[k]}; s.dispatchEvent(new Event("input")); })()`);
      const t = await page.run("galpha.state.t");
      check(`the slider goes to t = ${time[k]} s`, near(t, time[k]), String(t));
      for (const part of ["crank", "coupler", "rocker"]) {
        const at = await page.run(`galpha.place(${JSON.stringify(part)})`);
        check(`${part} is where the file says`, near(at[0], file.get(`${part}.x`)[k]) && near(at[1], file.get(`${part}.y`)[k]), at.join());
      }
    }
    // Joints hold together: pins of both bodies at one place, also between records.
    const gap = await page.run(`(() => { let most = 0; const m = galpha.machine;
      for (let i = 0; i < 200; i++) { galpha.seek(galpha.motion.end * i / 199);
        for (const s of m.shapes) if (s.type === "revolute") most = Math.max(most, m.place(s, 0).distanceTo(m.place(s, 1))); }
      return most / m.size; })()`);
    check("pins stay in their holes between records", gap < 1e-3, String(gap));
    await page.run(`galpha.seek(${time[Math.floor(last / 3)]})`);
    await pause(300);
    const [x, y] = await page.run("galpha.project('coupler')");
    await page.click(x, y);
    check("a click selects the part below it", (await page.run("galpha.state.selected")) === "coupler", String(await page.run("galpha.state.selected")));
    check("the tree shows it", (await page.run("document.querySelector('#tree [aria-selected=true]').dataset.part")) === "coupler");
    const shown = await page.run("[...document.querySelectorAll('#values tr')].find((r) => r.dataset.signal === 'coupler.x').cells[1].textContent");
    check("its values are those of the file", Math.abs(Number(shown.replace("−", "-")) - file.get("coupler.x")[Math.floor(last / 3)]) < 1e-4, shown);
    const before = await page.run("galpha.state.t");
    await page.key(" ", " ");
    check("space plays", await until(page, `galpha.state.playing && galpha.state.t > ${before}`));
    await page.key(" ", " ");
    const stopped = await page.run("galpha.state.t");
    await pause(200);
    check("and pauses", (await page.run("galpha.state.t")) === stopped);
    await page.key("End");
    check("End goes to the end", (await page.run("galpha.state.t")) === time[last]);
    await page.run("document.getElementById('theme').click()");
    await page.run("document.getElementById('trace').click()");
    await page.run("document.getElementById('view-top').click()");
  });
  await withPage(browser, "four_bar.html", phone, async (page) => {
    check("phone: nothing is wider than the screen", await page.run("document.documentElement.scrollWidth <= 390 && document.body.scrollWidth <= 390"));
    check("phone: there is room for the machine", await page.run("document.getElementById('stage').clientHeight >= 220"), String(await page.run("document.getElementById('stage').clientHeight")));
    check("phone: buttons can be touched", await page.run("['play', 'loop', 'fit'].every((id) => { const r = document.getElementById(id).getBoundingClientRect(); return r.height >= 32 && r.width >= 32 && r.bottom <= innerHeight && r.right <= innerWidth; })"));
    check("phone: the scene is not blank", await until(page, `${PAINTED} > 0.005`));
    await page.run("document.getElementById('play').click()");
    check("phone: no button is cut off", await page.run("[...document.querySelectorAll('.buttons button')].every((b) => b.hidden || b.scrollWidth <= b.clientWidth + 1)"));
    check("phone: it plays", await until(page, "galpha.state.t > 0"));
  });
}

// 100001 records of a vibration that is faster than the frames kept: the plot has its full height.
async function longRun(browser) {
  writeFileSync(join(work, "long_run.yaml"), `galpha: 1
bodies:
  mass: {type: point, mass: 1, position: [1.1, 0, 0]}
joints:
  rail: {type: point_on_line, a: ground, b: mass, at: {rotation: {z_axis: [1, 0, 0]}}}
forces:
  spring: {type: spring, a: ground, b: mass, stiffness: 1 MN/m, rest: 1}
simulation: {t_end: 20 s, step: 1 ms, output: 0.2 ms, rho: 1}
`);
  const run = galpha("run", "-q", "long_run.yaml"), view = galpha("view", "long_run.h5", "mass.x");
  check("a long run is thinned out", view.code === 0 && /4000 of 100001 records/.test(view.out), run.err + view.out + view.err);
  check("to a small page", statSync(join(work, "long_run.html")).size < 5e6);
  await withPage(browser, "long_run.html", desk, async (page) => {
    const [low, high] = await page.run("galpha.plots.panels[0].plot.data.slice(1, 3).map((d) => [Math.min(...d), Math.max(...d)])");
    const { low: least, high: most } = await page.run("(({ low, high }) => ({ low, high }))(galpha.motion.signals.get('mass.x'))");
    check("its plot has the full range", near(low[0], least) && near(high[1], most) && most - least > 0.15 && low[1] < 1, JSON.stringify([low, high, least, most]));
    check("the page says what is shown", await page.run("document.getElementById('note').textContent.includes('4000 of 100001')"));
    const ms = await page.run("(() => { const t = performance.now(); for (let i = 0; i < 50; i++) galpha.seek(20 * i / 50); return (performance.now() - t) / 50; })()");
    check("time moves smoothly", ms < 100, `${ms} ms`);
  });
}

// Rotors that turn more than once from record to record do so between them too.
async function fastRotors(browser) {
  writeFileSync(join(work, "rotors.yaml"), `galpha: 1
bodies:
  disc: {type: planar, mass: 1, inertia: 0.01, rate: 100}
  top: {type: rigid, mass: 1, inertia: [0.01, 0.01, 0.02], position: [1, 0, 0], omega: [0, 0, -70]}
joints:
  axle: {type: revolute, a: ground, b: disc}
simulation: {t_end: 1 s, step: 1 ms, output: 0.1 s}
`);
  const run = galpha("run", "-q", "rotors.yaml"), view = galpha("view", "rotors.h5");
  check("rotors: a page is written", view.code === 0, run.err + view.err);
  await withPage(browser, "rotors.html", desk, async (page) => {
    for (const [part, rate] of [["disc", 100], ["top", -70]])
      for (const t of [0.03, 0.55]) {
        const [z, w] = await page.run(`(() => { galpha.seek(${t}); const q = galpha.machine.groups[galpha.machine.parts.get(${JSON.stringify(part)}).on].quaternion; return [q.z, q.w]; })()`);
        const off = Math.abs(Math.sin(Math.atan2(z, w) - 0.5 * rate * t));
        check(`${part} has turned by ${rate * t} rad at ${t} s`, off < 1e-3, String(off));
      }
  });
}

// A crank whose pin is at `pin` instead of r is drawn as long.
function crank(pin, title = "crank") {
  return `galpha: 1
title: ${JSON.stringify(title).replaceAll("\u2028", "\\u2028")}
gravity: [0, -9.81, 0]
bodies:
  crank: {type: planar, mass: 1 kg, inertia: 0.01, com: [0.05, 0]}
  "rod é": {type: planar, mass: 1 kg, inertia: 0.01, position: [${pin}, 0]}
joints:
  axle: {type: revolute, a: ground, b: crank, at: [0, 0, 0]}
  pin: {type: revolute, a: crank, b: "rod é", at: [${pin}, 0, 0]}
simulation: {t_end: 0.2 s, output: 0.01 s}
`;
}
const HOSTILE = `</script><img src=x onerror=alert(1)><!-- "quoted" 'it' & \\ ü 曲柄 \u2028`;

async function models_(browser) {
  writeFileSync(join(work, "short.yaml"), crank(0.1).replaceAll("rod é", "rod"));
  writeFileSync(join(work, "long.yaml"), crank(0.2, HOSTILE).replaceAll("rod é", "rod"));
  const lengths = [];
  for (const name of ["short", "long"]) {
    const view = galpha("view", `${name}.yaml`);
    check(`${name}.yaml is drawn before any run`, view.code === 0, view.err);
    await withPage(browser, `${name}.html`, desk, async (page) => {
      lengths.push(await page.run("(() => { const a = galpha.machine.shapes.find((s) => s.part === 'pin'), b = galpha.machine.shapes.find((s) => s.part === 'axle'); return galpha.machine.place(a, 0).distanceTo(galpha.machine.place(b, 0)); })()"));
      lengths.push(await page.run("Math.max(...galpha.machine.parts.get('crank').objects.map((o) => o.geometry?.parameters.height ?? o.geometry?.parameters.length ?? 0))"));
      check(`${name}.yaml: a single state cannot be played`, await page.run("document.getElementById('play').disabled"));
      if (name === "long") {
        check("a title with markup is a text", (await page.run("document.getElementById('title').textContent")) === HOSTILE);
        check("and adds no element", (await page.run("document.querySelectorAll('img').length")) === 0);
      }
    });
  }
  check("a pin at 2r is drawn at 2r, and the crank as long", near(lengths[2], 2 * lengths[0]) && near(lengths[3], 2 * lengths[1]) && near(lengths[1], 0.1), lengths.join());
}

async function poorResults(browser) {
  writeFileSync(join(work, "poor.yaml"), crank(0.1).replaceAll("rod é", "rod").replace("output: 0.01 s", "output: 0.01 s, record: [energy.*], poses: false"));
  galpha("run", "-q", "poor.yaml");
  let view = galpha("view", "poor.h5");
  check("a result without poses: says what to record", view.code === 0 && /poses: true/.test(view.err), view.err);
  await withPage(browser, "poor.html", desk, async (page) => {
    check("and so does its page", await page.run("!document.getElementById('note').hidden && document.getElementById('note').textContent.includes('poses')"));
  });
  const all = readFileSync(join(work, "four_bar.h5"));
  let shown = 0;
  for (let part = 0.05; part < 1; part += 0.09) {
    writeFileSync(join(work, "broken.h5"), all);
    rmSync(join(work, "broken.html"), { force: true });
    const f = openSync(join(work, "broken.h5"), "r+");
    writeSync(f, Buffer.alloc(3000, 0x5a), 0, 3000, Math.floor(part * all.length));
    closeSync(f);
    view = galpha("view", "broken.h5");
    const good = view.code === 0 || (/damaged/.test(view.err) && (view.code === 1 || view.code === 2));
    if (!good) check(`damage at ${part.toFixed(2)} of a file is reported`, false, `${view.code} ${view.err}`);
    if (view.code !== 1 || shown++) continue;
    await withPage(browser, "broken.html", desk, async (page) =>
      check("damage: the page says so", await page.run("(({ textContent: t }) => t.includes('damaged') && !(t.includes('drawn as it starts') && t.includes('are shown')))(document.getElementById('note'))")));
  }
  check("damaged results: what can be read is shown", shown > 0);
  writeFileSync(join(work, "empty.h5"), "");
  check("an empty file is refused", galpha("view", "empty.h5").code === 2);
  check("an unknown signal is refused", galpha("view", "four_bar.h5", "coupler.X").code === 2);
  check("a page must end in .html", galpha("view", "four_bar.h5", "-o", "four_bar.h5").code === 2);
  check("a folder is not replaced", galpha("view", "four_bar.h5", "-o", "nowhere/a.html").code === 1);
}

// Pixels of the canvas near a point of the page, as [r, g, b].
const pixel = (x, y) => `(() => {
  const from = document.getElementById("canvas"), r = from.getBoundingClientRect(), to = document.createElement("canvas");
  to.width = from.width, to.height = from.height;
  const c = to.getContext("2d");
  c.drawImage(from, 0, 0);
  return [...c.getImageData((${x} - r.left) * from.width / r.width, (${y} - r.top) * from.height / r.height, 1, 1).data].slice(0, 3);
})()`;

// A binary STL file of a grid of squares, 2 n² triangles, over x and y from 0 to 1.
function gridStl(n) {
  const out = Buffer.alloc(84 + 50 * 2 * n * n);
  out.writeUInt32LE(2 * n * n, 80);
  let at = 84;
  for (let i = 0; i < n; i++)
    for (let j = 0; j < n; j++)
      for (const t of [[[0, 0], [1, 0], [1, 1]], [[0, 0], [1, 1], [0, 1]]]) {
        t.forEach(([a, b], k) => [(i + a) / n, (j + b) / n, 0.1 * Math.sin(i + a)].forEach((v, c) => out.writeFloatLE(v, at + 12 + 12 * k + 4 * c)));
        at += 50;
      }
  return out;
}

// Shapes of the model: sizes, places, colours, meshes; a click on one selects its body; colliders.
async function shapes(browser) {
  const kinds = ["box", "cylinder", "sphere", "capsule", "tube", "cone", "wheel", "mesh"];
  const size = { box: "size: [1, 1, 1]", cylinder: "radius: 0.5, length: 1", sphere: "radius: 0.5", capsule: "radius: 0.3, length: 0.4", tube: "radius: 0.5, inner: 0.3, length: 1",
                 cone: "radius: 0.5, length: 1", wheel: "radius: 0.5, length: 0.2", mesh: "file: grid.stl, position: [-0.5, -0.5, 0]" };
  writeFileSync(join(work, "grid.stl"), gridStl(200));
  writeFileSync(join(work, "shapes.yaml"), `galpha: 1
bodies:
${kinds.map((k, i) => `  ${k}_body: {type: rigid, mass: 1, inertia: [1, 1, 1], position: [${2 * i}, 0, 0], velocity: [0, 0, 1]}`).join("\n")}
  brick: {type: rigid, mass: 1, inertia: [1, 1, 1], position: [0, 3, 0]}
colliders: {stone: {type: box, frame: brick, size: [1, 2, 0.5]}, pill: {type: capsule, frame: pill_place, radius: 0.2, length: 1}}
markers: {pill_place: {body: brick, position: [2, 0, 0]}}
shapes:
${kinds.map((k) => `  ${k}: {type: ${k}, frame: ${k}_body, colour: "#e01010", ${size[k]}}`).join("\n")}
simulation: {t_end: 1 s, step: 0.1 s}
`);
  const run = galpha("run", "-q", "shapes.yaml"), view = galpha("view", "shapes.h5");
  check("shapes: a page is written", run.code === 0 && view.code === 0, run.err + view.err);
  const [, kept, all] = view.out.match(/meshes with (\d+) of (\d+) triangles/) ?? [];
  check("a large mesh is simplified, and this is said", Number(all) === 80000 && Number(kept) > 5000 && Number(kept) <= 60000, view.out);
  check("shapes: the page is small", statSync(join(work, "shapes.html")).size < 5e6);
  await withPage(browser, "shapes.html", desk, async (page) => {
    await page.run("document.getElementById('view-iso').click()");
    for (const k of kinds) {
      const found = await page.run(`(() => { const o = galpha.machine.parts.get("${k}_body").objects.filter((x) => x.visible);
        const b = new galpha.T.Box3(); o.forEach((x) => { x.updateMatrixWorld(true); b.expandByObject(x); }); const s = b.getSize(new galpha.T.Vector3()); return [s.x, s.y, s.z, b.getCenter(new galpha.T.Vector3()).x]; })()`);
      const i = kinds.indexOf(k), wide = k === "capsule" ? 0.6 : 1, high = k === "wheel" ? 0.2 : k === "mesh" ? 0.2 : 1;
      check(`${k}: it has the size and the place of the model`, Math.abs(found[0] - wide) < 0.02 && Math.abs(found[2] - high) < 0.03 && Math.abs(found[3] - 2 * i) < 0.02, found.join());
    }
    await page.run("galpha.seek(0.5), galpha.look('iso')");
    await pause(300);
    const [x, y] = await page.run("galpha.project('sphere_body')");
    await page.click(x, y);
    check("a click on a shape selects its body", (await page.run("galpha.state.selected")) === "sphere_body", String(await page.run("galpha.state.selected")));
    await page.run("galpha.select(null)");
    await pause(200);
    const [r, g, b] = await page.run(pixel(...(await page.run("galpha.project('box_body')"))));
    check("the shape has the colour of the model", r > 2 * g && r > 2 * b && r > 60, [r, g, b].join());
    const solids = await page.run("galpha.machine.shapes.filter((s) => s.type === 'collider').map((s) => [s.kind, s.size, s.dimension])");
    check("colliders are drawn", JSON.stringify(solids) === '[["box",0,[1,2,0.5]],["capsule",0.2,[1,0,0]]]', JSON.stringify(solids));
  });
  rmSync(join(work, "grid.stl"));
  const without = galpha("view", "shapes.h5", "-o", "without.html");
  check("a result whose mesh is gone is drawn without it, and this is said", without.code === 0 && /meshes are not where the model was/.test(without.err), without.err);
  check("its other shapes are there", (readFileSync(join(work, "without.html"), "utf8").match(/"given":1/g) ?? []).length === kinds.length - 1);
  writeFileSync(join(work, "bad.stl"), Buffer.concat([gridStl(2).subarray(0, 300)]));
  writeFileSync(join(work, "bad.yaml"), "galpha: 1\nbodies: {b: {type: point, mass: 1}}\nshapes: {s: {type: mesh, frame: b, file: bad.stl}}\n");
  const bad = galpha("view", "bad.yaml");
  check("a damaged mesh is refused with its file and bytes", bad.code === 2 && /bad\.stl:1/.test(bad.err) && /300 bytes for 8 triangles/.test(bad.err), bad.err);
}

// Beams by section force: the colours follow the legend, and the values are those of the file.
async function beams(browser) {
  writeFileSync(join(work, "beam.yaml"), `galpha: 1
bodies:
  beam: {type: beam, from: [0, 0, 0], to: [2, 0, 0], elements: 8, section: circle, diameter: 0.05, young: 2e11, poisson: 0.3, density: 7800}
joints: {clamp: {type: fixed, a: ground, b: beam}}
forces: {tip: {type: force, frame: beam.end, force: [0, 0, "1000*step5(t, 0, 0, 0.5, 1)"]}}
simulation: {t_end: 1 s, output: 0.02 s}
`);
  const run = galpha("run", "-q", "beam.yaml"), view = galpha("view", "beam.h5");
  check("beam: a page is written", run.code === 0 && view.code === 0, run.err + view.err);
  const file = table("beam.h5"), last = file.get("time").length - 1;
  await withPage(browser, "beam.html", desk, async (page) => {
    await page.run("galpha.setColour(3), galpha.seek(galpha.motion.end), galpha.look('front')");
    const loads = await page.run("Array.from({ length: 8 }, (_, i) => galpha.machine.loadAt(i, 3, galpha.motion.end))");
    // Static at its end but for small vibrations: the moment falls linearly from the clamp; between its nodes it is the mean.
    const root = Math.hypot(file.get("beam.moment_y")[last], file.get("beam.moment_z")[last]);
    check("the bending moment at the clamp is that of the file", Math.abs(loads[0] / root - 15 / 16) < 0.02, `${loads[0]} ${root}`);
    check("and falls to the tip", loads.every((m, i) => i === 0 || m < loads[i - 1]) && Math.abs(loads[7] / loads[0] - 1 / 15) < 0.02, loads.join());
    check("the legend has unit and range", await page.run("(({ textContent: t, hidden: h }) => !h && t.includes('bending moment [N·m]'))(document.getElementById('legend'))"));
    await pause(300);
    const shades = await page.run("(() => { const t = galpha.machine.tubes[0], a = t.shade.array, n = 3 * t.sides; return [[...a.slice(0, 3)], [...a.slice(n * (t.rings - 1), n * (t.rings - 1) + 3)]]; })()");
    check("the clamp is yellow, the tip blue", shades[0][0] > 0.5 && shades[0][1] > 0.5 && shades[1][2] > 1.5 * shades[1][0], JSON.stringify(shades));
    await page.run("galpha.setColour(null)");
    check("and goes back to one colour", await page.run("document.getElementById('legend').hidden && !galpha.machine.tubes[0].mesh.material.vertexColors"));
  });
}

// Arrows of forces: of a force on a turning body in its axes, by hand; of tyres, by Newton's law for the whole car. Sections of beams.
async function directions(browser) {
  writeFileSync(join(work, "turning.yaml"), `galpha: 1
bodies: {bar: {type: rigid, mass: 1, inertia: [1, 1, 1]}}
markers: {tip: {body: bar, position: [1, 0, 0]}}
joints:
  hinge: {type: revolute, a: ground, b: bar, at: [0, 0, 0]}
drives: {turn: {coordinate: hinge.angle, function: t}}
forces:
  push: {type: force, frame: tip, axes: body, force: [30, 0, 0], torque: [0, 40, 0]}
  lift: {type: force, frame: bar, force: [0, 0, 20*t]}
simulation: {t_end: 2 s, step: 10 ms, output: 0.02 s}
`);
  const run = galpha("run", "-q", "turning.yaml"), view = galpha("view", "turning.h5");
  check("turning: a page is written", run.code === 0 && view.code === 0, run.err + view.err);
  const arrow = (part, kind) => `(() => { const a = galpha.machine.parts.get("${part}").objects.find((o) => o.userData.kind === "${kind}");
    return a && a.visible ? [...new galpha.T.Vector3(0, 1, 0).applyQuaternion(a.quaternion), ...a.position] : null; })()`;
  await withPage(browser, "turning.html", desk, async (page) => {
    const t = 1.2, c = Math.cos(t), z = Math.sin(t);
    await page.run(`galpha.seek(${t})`);
    const force = await page.run(arrow("push", "f")), torque = await page.run(arrow("push", "m")), lift = await page.run(arrow("lift", "f"));
    const is = (got, ...wanted) => Boolean(got) && wanted.every((w, i) => Math.abs(got[i] - w) < 2e-3);
    check("a force in a body's axes turns with it, at its marker", is(force, c, z, 0, c, z, 0), String(force));
    check("and so does its torque", is(torque, -z, c, 0, c, z, 0), String(torque));
    check("a force with one component points along it", is(lift, 0, 0, 1, 0, 0, 0), String(lift));
  });
  const car = galpha("run", "-q", join(models, "car.yaml"), "--step", "2ms", "-o", "car.h5"), names = ["*.ax", "*.ay", "*tyre*.f*"];
  check("car: a page is written", car.code === 0 && galpha("view", "car.h5", ...names).code === 0, car.err);
  await withPage(browser, "car.html", desk, async (page) => {
    for (const t of [1.6, 2.4, 3.1]) {
      const sums = await page.run(`(() => { galpha.seek(${t}); const force = [0, 0], motion = [0, 0], v = (n) => galpha.motion.value(n, ${t});
        for (const p of galpha.machine.parts.values()) {
          if (p.type === "tyre") {
            const a = p.objects.find((o) => o.userData.kind === "f"), d = new galpha.T.Vector3(0, 1, 0).applyQuaternion(a.quaternion);
            const size = Math.hypot(...["fx", "fy", "fz"].map((c) => v(p.name + "." + c)));
            force[0] += size * d.x, force[1] += size * d.y;
          } else if (/body|point/.test(p.type) && p.mass > 0) motion[0] += p.mass * v(p.name + ".ax"), motion[1] += p.mass * v(p.name + ".ay");
        }
        return [...force, ...motion]; })()`);
      const [fx, fy, mx, my] = sums, size = Math.hypot(mx, my);
      check(`arrows of tyres add up to mass times acceleration, t = ${t}`, size > 100 && Math.hypot(fx - mx, fy - my) < 0.06 * size, sums.join());
    }
  });
  for (const [name, section, y, z] of [["plank", "rectangle, width: 0.3, height: 0.1", 0.15, 0.05], ["girder", "i, width: 0.2, height: 0.4, web: 0.02, flange: 0.03", 0.1, 0.2],
    ["pipe", "tube, diameter: 0.24, wall: 0.01", 0.12, 0.12]]) {
    writeFileSync(join(work, `${name}.yaml`), `galpha: 1
bodies: {beam: {type: beam, from: [0, 0, 0], to: [4, 0, 0], elements: 4, section: ${section}, young: 2e11, poisson: 0.3, density: 7800}}
joints: {clamp: {type: fixed, a: ground, b: beam}}
simulation: {t_end: 0.01 s, step: 1 ms}
`);
    const made = galpha("view", `${name}.yaml`);
    check(`${name}: a page is written`, made.code === 0, made.err);
    await withPage(browser, `${name}.html`, desk, async (page) => {
      const box = await page.run(`(() => { const a = galpha.machine.tubes[0].mesh.geometry.attributes.position, most = [0, 0, 0];
        for (let i = 0; i < a.count; i++) [a.getX(i), a.getY(i), a.getZ(i)].forEach((x, k) => { most[k] = Math.max(most[k], Math.abs(x)); }); return most; })()`);
      check(`${name}: its section has its size`, Math.abs(box[0] - 4) < 0.01 && Math.abs(box[1] - y) < 0.03 * y && Math.abs(box[2] - z) < 0.06 * z, box.join());
    });
  }
}

// Modes of two masses between three springs: 1 : 1 at √(k/m), 1 : −1 at √(3k/m).
async function modes(browser) {
  writeFileSync(join(work, "two.yaml"), `galpha: 1
title: Two masses
bodies: {a: {type: point, mass: 1, position: [1, 0, 0]}, b: {type: point, mass: 1, position: [2, 0, 0]}}
markers: {far: {body: ground, position: [3, 0, 0]}}
joints:
  rail_a: {type: point_on_line, a: ground, b: a, at: {rotation: {z_axis: [1, 0, 0]}}}
  rail_b: {type: point_on_line, a: ground, b: b, at: {rotation: {z_axis: [1, 0, 0]}}}
forces:
  s1: {type: spring, a: ground, b: a, stiffness: 100, rest: 1}
  s2: {type: spring, a: a, b: b, stiffness: 100, rest: 1}
  s3: {type: spring, a: b, b: far, stiffness: 100, rest: 1}
`);
  const made = galpha("modes", "two.yaml", "-o", "two_modes.h5"), view = galpha("view", "two_modes.h5");
  check("modes: a page is written", made.code === 0 && view.code === 0 && /2 modes/.test(view.out), made.err + view.err + view.out);
  await withPage(browser, "two_modes.html", desk, async (page) => {
    const list = await page.run("[...document.getElementById('mode').options].map((o) => o.text)");
    check("modes are listed with their frequencies", list[0].startsWith("1: 1.5915 Hz") && list[1].startsWith("2: 2.7566 Hz"), list.join());
    check("a mode plays", await until(page, "galpha.state.playing && galpha.state.t > 0"));
    await page.run("galpha.state.playing = false");
    for (const [mode, sign] of [[0, 1], [1, -1]]) {
      const [a0, b0, a, b, half] = await page.run(`(() => { galpha.setMode(${mode}); const at = (t) => (galpha.seek(t), [galpha.place("a")[0] - 1, galpha.place("b")[0] - 2]);
        return [...at(0.25), ...at(0), at(0.5)[0]]; })()`);
      check(`mode ${mode + 1}: both masses move as the eigenvector says`, Math.abs(b - sign * a) < 1e-5 && Math.abs(a) > 0.05 && Math.abs(half + a) < 1e-6 && Math.abs(a0) < 1e-5 && Math.abs(b0) < 1e-5, [a, b, half, a0, b0].join());
    }
    const wide = await page.run("(() => { const s = document.getElementById('amplitude'); galpha.seek(0); const before = galpha.place('a')[0] - 1; s.value = 2; s.dispatchEvent(new Event('input')); return (galpha.place('a')[0] - 1) / before; })()");
    check("the amplitude is twice as large", near(wide, 2), String(wide));
    check("the title is that of the model", (await page.run("document.getElementById('title').textContent")) === "Two masses");
  });
  check("modes and signals do not go together", galpha("view", "two_modes.h5", "a.x").code === 2);
}

// Two results over each other: linked time, both plotted.
async function ghosts(browser) {
  galpha("run", "-q", join(models, "four_bar.yaml"), "-o", "other.h5", "--t-end", "2", "--step", "0.004");
  const view = galpha("view", "four_bar.h5", "other.h5", "coupler.x", "-o", "both.html");
  check("two results: a page is written", view.code === 0 && /other.h5: \d+ of \d+ records/.test(view.out), view.err + view.out);
  const one = table("four_bar.h5"), two = table("other.h5");
  await withPage(browser, "both.html", desk, async (page) => {
    const k = Math.floor(two.get("time").length / 2), t = two.get("time")[k];
    await page.run(`galpha.seek(${t})`);
    const at = await page.run("(() => { const m = galpha.others[0].machine, p = m.parts.get('coupler'); return m.groups[p.on].position.toArray(); })()");
    check("the other machine is where its file says", near(at[0], two.get("coupler.x")[k]) && near(at[1], two.get("coupler.y")[k]), at.join());
    const data = await page.run("galpha.plots.panels[0].plot.data.map((d) => Array.from(d))");
    const pairs = (time, y) => time.map((v, i) => [v, y[i]]).filter(([, v]) => v !== null && v !== undefined);
    const good = (found, file) => found.length === file.get("time").length && found.every(([tt, v], i) => tt === file.get("time")[i] && near(v, file.get("coupler.x")[i]));
    check("both are plotted, with the values of their files", data.length === 3 && good(pairs(data[0], data[1]), one) && good(pairs(data[0], data[2]), two));
    await page.run(`galpha.seek(${one.get("time").at(-1)})`);
    check("the time is that of the longer one", near(await page.run("galpha.state.t"), one.get("time").at(-1)));
    const faint = await page.run("(() => { let n = 0; galpha.others[0].machine.scene.traverse((o) => { if (o.isMesh) n += o.material.transparent && o.material.opacity < 0.5 ? 0 : 1; }); return n; })()");
    check("the other one is faint", faint === 0, String(faint));
    await page.run("document.getElementById('ghosts').click()");
    check("and can be hidden", (await page.run("galpha.others[0].machine.scene.visible")) === false);
  });
}

// What a start moves; events; GIF; forces; iframe; pages of a run that goes on.
async function extras(browser) {
  writeFileSync(join(work, "moved.yaml"), crank(0.1).replaceAll("rod é", "rod").replace("position: [0.1, 0]", "position: [0.11, 0.01]").replace("a: crank, b: \"rod\", at: [0.1, 0, 0]", "a: tip, b: \"rod\"") + "markers: {tip: {body: crank, position: [0.1, 0, 0]}}\n");
  const view = galpha("view", "moved.yaml"), said = galpha("check", "moved.yaml");
  check("a start that moves bodies: a page is written", view.code === 0, view.err);
  check("check names the picture", said.code === 0 && /galpha view moved.yaml/.test(said.out), said.out + said.err);
  check("check --view writes it", galpha("check", "moved.yaml", "--view").code === 0);
  await withPage(browser, "moved.html", desk, async (page) => {
    const apart = await page.run("(() => { const p = galpha.machine.parts.get('rod').on; return galpha.given.groups[p].position.distanceTo(galpha.machine.groups[p].position); })()");
    const tip = await page.run("galpha.place('tip')"), pin = await page.run("galpha.place('pin')");
    check("a marker is where it is on its body", Math.hypot(tip[0] - pin[0], tip[1] - pin[1]) < 1e-6, `${tip} ${pin}`);
    check("given and assembled poses are drawn", apart > 0.001 && apart < 0.05, String(apart));
    const text = await page.run("document.getElementById('note').textContent"), listed = Number(/rod was moved by ([\d.e-]+) m/.exec(text)?.[1]);
    check("the distance is listed, and is that of the picture", Math.abs(listed - apart) < 0.01 * apart, text);
  });
  writeFileSync(join(work, "event.yaml"), crank(0.1).replaceAll("rod é", "rod") + "events: {low: {when: crank.angle + 0.1}}\n");
  const run = galpha("run", "-q", "event.yaml");
  galpha("view", "event.h5");
  const inner = readFileSync(join(work, "event.html"), "utf8").replaceAll("&", "&amp;").replaceAll('"', "&quot;");
  writeFileSync(join(work, "frame.html"), `<!doctype html><iframe srcdoc="${inner}" style="width:640px;height:400px;border:0"></iframe>`);
  await withPage(browser, "event.html", desk, async (page) => {
    const events = await page.run("JSON.parse(document.getElementById('data').textContent).events");
    await page.key("e", "e");
    check("E goes to the event", events.length > 0 && near(await page.run("galpha.state.t"), events[0][0]), run.err + JSON.stringify(events));
    await page.run("galpha.seek(galpha.motion.end)");
    await page.key("b", "b");
    check("B goes back to it", near(await page.run("galpha.state.t"), events.at(-1)[0]));
    await page.run("document.getElementById('speed').value = '1', document.getElementById('speed').dispatchEvent(new Event('change')), document.getElementById('gif').click()");
    check("a GIF is made", await until(page, "Boolean(galpha.lastGif)"));
    const head = await page.run("galpha.lastGif.arrayBuffer().then((b) => { const u = new Uint8Array(b); return [String.fromCharCode(...u.slice(0, 6)), u[6] + 256 * u[7], u.length, u[u.length - 1]]; })");
    check("with its header, size and end", head[0] === "GIF89a" && head[1] > 100 && head[1] <= 640 && head[2] > 1000 && head[3] === 0x3b, head.join());
    await page.run("(() => { window.saved = []; const make = URL.createObjectURL; URL.createObjectURL = (b) => (saved.push([b.type, b.size]), make(b)); HTMLAnchorElement.prototype.click = function () { saved.push([this.download, this.href.length]); }; })()");
    await page.run("document.getElementById('film').click(), document.getElementById('play').click()");
    await until(page, "galpha.state.filmed > 500", 300);
    await page.run("document.getElementById('film').click()");
    check("a film is saved, with more than a header", await until(page, "saved.some(([n]) => n === 'machine.webm') && saved[0][1] > 500"), JSON.stringify(await page.run("saved")));
    await page.run("document.getElementById('play').click(), document.getElementById('picture').click()");
    check("a picture is saved", await until(page, "saved.some(([n, size]) => n === 'machine.png' && size > 5000)"), JSON.stringify(await page.run("saved")));
    const tint = () => page.run("[getComputedStyle(document.body).backgroundColor, galpha.scene.background.getHexString()].join()"), before = await tint();
    await page.key("d", "d");
    check("D changes between light and dark", (await tint()) !== before);
    await page.run("document.getElementById('forces').click()");
    check("forces of joints are drawn", await page.run("galpha.machine.arrows.some((a) => a.arrow.visible && a.arrow.userData.kind === 'f')"));
    const f = await page.run("(() => { galpha.seek(0.1); const a = galpha.machine.arrows.find((x) => x.arrow.parent && x.arrow.userData.kind === 'f').arrow, d = new galpha.T.Vector3(0, 1, 0).applyQuaternion(a.quaternion), f = new galpha.T.Vector3(...['x', 'y', 'z'].map((c) => galpha.motion.value('axle.f' + c, 0.1) || 0)).normalize(); return d.dot(f); })()");
    check("in their directions", f > 0.999, String(f));
  });
  await withPage(browser, "event.html", desk, async (page) => {
    await page.run("location.hash = '#playing'; location.reload()");
    check("#playing plays at once", await until(page, "window.galpha?.state.playing && galpha.state.t > 0"));
  });
  const outer = await browser.open(url("frame.html"), 700, 450);
  check("in an iframe the machine has the room", await until(outer, "(({ clientWidth: w, clientHeight: h }) => w >= 630 && h > 280)(frames[0].document.getElementById('stage'))"));
  check("in an iframe: the scene is not blank", await until(outer, PAINTED.replace('document.getElementById("canvas")', 'frames[0].document.getElementById("canvas")') + " > 0.005"));
  const zooms = "frames[0].galpha.controls.enableZoom", before = await outer.run(zooms);
  await outer.click(330, 150);
  check("in an iframe: the wheel scrolls the page until the machine is clicked", before === false && (await outer.run(zooms)) === true);
  check("in an iframe: no error", outer.errors.length === 0, outer.errors.join());
  await outer.close();
  writeFileSync(join(work, "slow.yaml"), crank(0.1).replaceAll("rod é", "rod").replace("t_end: 0.2 s", "t_end: 100000 s, step: 1 ms, flush_every: 0.2").replace(", flush_every: 0.2", ""));
  const slow = spawn(program, ["run", "-q", "slow.yaml", "--flush-every", "0.2"], { cwd: work, stdio: "ignore" });
  await pause(900);
  const live = spawn(program, ["view", "--live", "slow.h5"], { cwd: work, stdio: "ignore" });
  const first = await seen(join(work, "slow.html"));
  await withPage(browser, "slow.html", desk, async (page) => {
    const n = await page.run("galpha.motion.end");
    check("a run that goes on: its page reloads itself and grows", first && await until(page, `window.galpha && galpha.motion.end > ${n}`, 160), String(n));
  });
  live.kill();
  slow.kill("SIGKILL");
  check("--live needs a result", galpha("view", "--live", "slow.yaml").code === 2);
}
async function seen(file) {
  for (let i = 0; i < 60; i++) {
    if (existsSync(file) && statSync(file).size > 1000) return true;
    await pause(50);
  }
  return false;
}

// What is listed, what has room, and what the camera looks at.
async function layout(browser) {
  const example = (name) => (galpha("run", "-q", join(models, `${name}.yaml`)), galpha("view", `${name}.h5`));
  check("sampled_motor: a page is written", example("sampled_motor").code === 0);
  await withPage(browser, "sampled_motor.html", desk, async (page) => {
    const types = await page.run("Object.fromEntries([...document.querySelectorAll('#tree button')].map((b) => [b.dataset.part, b.querySelector('small').textContent]))");
    check("parts without a shape are listed with their types", types.motor === "actuator" && types.current === "state_space" && types.control === "sampled" && !Object.values(types).includes("signals"), JSON.stringify(types));
  });
  check("spring_mass: a page is written", example("spring_mass").code === 0);
  await withPage(browser, "spring_mass.html", desk, async (page) => {
    check("without a place in space plots have the room", await page.run("document.getElementById('stage').clientWidth === 0 && document.getElementById('plots').clientWidth > 700 && galpha.plots.panels[0].plot.width > 700"));
    check("and the page says why", (await page.run("document.getElementById('note').textContent")).includes("has a place in space"));
  });
  check("ball_in_bowl: a page is written", example("ball_in_bowl").code === 0);
  await withPage(browser, "ball_in_bowl.html", desk, async (page) => {
    const out = await page.run(`(() => { let n = 0; const v = new galpha.T.Vector3();
      for (const o of galpha.machine.parts.get("ground").objects) if (o.userData.given) for (const x of [-1, 1]) { v.set(x * o.geometry.boundingBox?.max.x || 0.4 * x, 0, 0).applyMatrix4(o.matrixWorld).project(galpha.camera); n += Math.abs(v.x) > 1 || Math.abs(v.y) > 1; }
      return n; })()`);
    check("the bowl on the ground is in the picture, which does not follow the ball", out === 0 && !(await page.run("galpha.state.follow")), String(out));
  });
  check("joint_prismatic: a page is written", example("joint_prismatic").code === 0);
  await withPage(browser, "joint_prismatic.html", desk, async (page) => {
    const far = await page.run("(() => { galpha.seek(galpha.motion.end); const box = new galpha.T.Box3(); for (const o of galpha.machine.parts.get('joint').objects) if (o.userData.far) box.expandByObject(o); return box.expandByScalar(0.1).containsPoint(new galpha.T.Vector3(...galpha.place('joint'))); })()");
    check("a rail is as long as the travel, and the camera follows", far && (await page.run("galpha.state.follow")));
  });
  // Posts below tyres: 4 mm sin(2π (0.5 t + 14.5/20 t²/2)).
  galpha("run", "-q", join(models, "car_four_post.yaml"), "--t-end", "1", "-o", "posts.h5");
  galpha("view", "posts.h5");
  await withPage(browser, "posts.html", desk, async (page) => {
    const t = 0.6, height = 0.004 * Math.sin(2 * Math.PI * (0.5 * t + (14.5 / 40) * t * t));
    const posts = await page.run(`(() => { galpha.seek(${t}); const x = new galpha.T.Vector3(), wheel = galpha.place("front_tyre0");
      return galpha.machine.parts.get("road").objects.filter((o) => o.children[0]?.children.length === 2).map((o) => (o.children[0].getWorldPosition(x), [x.z, Math.hypot(x.x - wheel[0], x.y - wheel[1])])); })()`);
    check("posts are as high as the road at that time", posts.length === 4 && posts.every(([z]) => Math.abs(z - height) < 1e-6), JSON.stringify([height, posts]));
    check("one is below the wheel", Math.min(...posts.map(([, d]) => d)) < 1e-6, JSON.stringify(posts));
  });
  writeFileSync(join(work, "fade.yaml"), `galpha: 1
bodies: {a: {type: planar, mass: 1, inertia: 1}}
joints: {axle: {type: revolute, a: ground, b: a, at: [0, 0, 0]}}
forces: {k: {type: spring, coordinate: axle.angle, stiffness: 1, damping: 10}}
simulation: {t_end: 1 s}
`);
  galpha("modes", "fade.yaml", "-o", "fade_modes.h5");
  galpha("view", "fade_modes.h5");
  await withPage(browser, "fade_modes.html", desk, async (page) => {
    const text = await page.run("document.getElementById('mode-facts').textContent");
    check("a real eigenvalue has no imaginary part", /eigenvalue \S+ 1\/s/.test(text), text);
  });
}

const late = setTimeout(() => (console.log("not ok 999 - the browser answers in time"), process.exit(1)), 180000);
const browser = new Browser(chromium);
try {
  await fourBar(browser);
  await longRun(browser);
  await fastRotors(browser);
  await models_(browser);
  await shapes(browser);
  await beams(browser);
  await directions(browser);
  await modes(browser);
  await ghosts(browser);
  await extras(browser);
  await layout(browser);
  await poorResults(browser);
} catch (e) {
  check("the test runs to its end", false, e.stack);
} finally {
  await browser.close();
  clearTimeout(late);
}
process.exit(failed ? 1 : 0);

// tests/viewer/run.mjs PROGRAM CHROMIUM MODELS WORK: pages of galpha view in a real browser.
import { spawnSync } from "node:child_process";
import { mkdirSync, openSync, readFileSync, rmSync, statSync, writeFileSync, writeSync, closeSync } from "node:fs";
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
async function until(page, condition) {
  for (let i = 0; i < 100; i++) {
    if (await page.run(condition)) return true;
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
      check("damage: the page says so", await page.run("document.getElementById('note').textContent.includes('damaged')")));
  }
  check("damaged results: what can be read is shown", shown > 0);
  writeFileSync(join(work, "empty.h5"), "");
  check("an empty file is refused", galpha("view", "empty.h5").code === 2);
  check("an unknown signal is refused", galpha("view", "four_bar.h5", "coupler.X").code === 2);
  check("a page must end in .html", galpha("view", "four_bar.h5", "-o", "four_bar.h5").code === 2);
  check("a folder is not replaced", galpha("view", "four_bar.h5", "-o", "nowhere/a.html").code === 1);
}

const late = setTimeout(() => (console.log("not ok 999 - the browser answers in time"), process.exit(1)), 60000);
const browser = new Browser(chromium);
try {
  await fourBar(browser);
  await longRun(browser);
  await fastRotors(browser);
  await models_(browser);
  await poorResults(browser);
} catch (e) {
  check("the test runs to its end", false, e.stack);
} finally {
  await browser.close();
  clearTimeout(late);
}
process.exit(failed ? 1 : 0);

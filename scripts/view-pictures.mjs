// scripts/view-pictures.mjs FOLDER CHROMIUM [NAME...]: pictures of machines, by the pages of galpha view.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Browser } from "../tests/viewer/browser.mjs";

const [folder, chromium, ...wanted] = process.argv.slice(2);
const program = process.env.GALPHA ?? join(folder, "build/release/bin/galpha");
const work = mkdtempSync(join(tmpdir(), "galpha-pictures-"));

// name: the picture; model: an example; run: further options of galpha run; view: signals; t: the time shown, in parts of the
// run; select, press: a part and buttons; script: what else is done in the page.
const PICTURES = [
  { name: "slider_crank", model: "slider_crank", view: ["crank.angle", "slider.x"], t: 0.31, select: "rod", press: ["trace"] },
  { name: "andrews", model: "andrews", t: 0.45, press: ["view-front"] },
  { name: "heavy_top", model: "heavy_top", t: 0.6, select: "centre", press: ["trace"] },
  { name: "rolling_disk", model: "rolling_disk", t: 0.35, select: "disk", press: ["trace"] },
  { name: "bicycle", model: "bicycle", t: 0.05, view: ["frame.roll", "head.angle"] },
  { name: "robot_arm", model: "robot_arm", t: 0.5 },
  { name: "flying_spaghetti", model: "flying_spaghetti", t: 0.55,
    script: "galpha.setColour(3); const c = galpha.controls, d = galpha.camera.position.clone().sub(c.target).setLength(17); c.target.fromArray(galpha.place('middle')); galpha.camera.position.copy(c.target).add(d)" },
  { name: "car", model: "car", t: 0.4, view: ["chassis.y", "chassis.yaw"], select: "front_wheel0" },
  { name: "car_bump", model: "car_bump", t: 0.12, script: "galpha.look('iso')" },
  { name: "full_car", model: "full_car_step_steer", t: 0.5 },
  { name: "four_bar", model: "four_bar", t: 0.13, press: ["forces"] },
  { name: "bricard", model: "bricard", t: 0.35 },
  { name: "cradle", model: "cradle", t: 0.12 },
  { name: "trolley", model: "trolley", t: 0.4, view: ["trolley.x", "load.x"], script: "galpha.setColour(3)" },
  { name: "bicycle_mode", model: "bicycle", modes: true, script: "galpha.setMode(galpha.motion.modes.findIndex((m) => m.eigenvalue[1] !== 0)); galpha.seek(0.1)" },
  { name: "ghost", model: "double_pendulum", other: ["--set", "length=0.4 m"], t: 0.5 },
];

function galpha(...words) {
  const { status, stderr } = spawnSync(program, words, { cwd: work, encoding: "utf8" });
  if (status !== 0) throw new Error(`galpha ${words.join(" ")}: ${stderr}`);
}

async function take(browser, p) {
  const model = join(folder, "examples/models", `${p.model}.yaml`), page = `${p.name}.html`;
  if (p.modes) galpha("modes", model, "-o", "modes.h5"), galpha("view", "modes.h5", "-o", page);
  else {
    galpha("run", "-q", model, "-o", "a.h5", ...(p.run ?? []));
    if (p.other) galpha("run", "-q", model, "-o", "b.h5", ...p.other);
    galpha("view", "a.h5", ...(p.other ? ["b.h5"] : []), ...(p.view ?? []), "-o", page);
  }
  const tab = await browser.open("file://" + join(work, page), 1200, 700);
  await tab.run("document.documentElement.classList.remove('dark'), 0");
  await tab.run("document.getElementById('theme').click(), document.getElementById('theme').click()");
  if (p.modes) await tab.run("galpha.state.playing && document.getElementById('play').click()");
  if (p.select) await tab.run(`galpha.select(${JSON.stringify(p.select)})`);
  if (p.t !== undefined) await tab.run(`galpha.seek(${p.t} * galpha.motion.end)`);
  for (const id of p.press ?? []) await tab.run(`document.getElementById(${JSON.stringify(id)}).click()`);
  if (p.script) await tab.run(`(() => { ${p.script}; })()`);
  await tab.run("new Promise((done) => setTimeout(done, 400))");
  writeFileSync(join(folder, "docs/img", `view_${p.name}.png`), await tab.picture());
  if (tab.errors.length) throw new Error(`${p.name}: ${tab.errors.join(" | ")}`);
  await tab.close();
  console.log(`docs/img/view_${p.name}.png`);
}

const browser = new Browser(chromium);
let failed = 0;
for (const p of PICTURES) {
  if (wanted.length && !wanted.includes(p.name)) continue;
  try {
    await take(browser, p);
  } catch (e) {
    failed = 1;
    console.error(`${p.name}: ${e.message}`);
  }
}
await browser.close();
rmSync(work, { recursive: true, force: true });
process.exit(failed);

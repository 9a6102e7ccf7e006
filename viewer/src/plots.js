// Plots of signals over time, a panel for each unit, linked to the time of the animation.
import uPlot from "uplot";

const COLOURS = ["#1769c4", "#d9541e", "#2a9d4a", "#8e44ad", "#c0392b", "#16858c", "#b8860b", "#555f6e"];

export class Plots {
  // others: motions of further results, whose signals of the same names are dashed.
  constructor(motion, box, seek, changed, others = []) {
    Object.assign(this, { motion, box, seek, changed, others, names: [], panels: [], t: motion.start });
    new ResizeObserver(() => this.#resize()).observe(box);
  }

  has(name) {
    return this.names.includes(name);
  }

  toggle(name) {
    if (!this.motion.signals.has(name)) return;
    this.names = this.has(name) ? this.names.filter((n) => n !== name) : [...this.names, name];
    this.draw();
    this.changed();
  }

  draw() {
    for (const p of this.panels) p.plot.destroy();
    this.box.replaceChildren();
    this.panels = [];
    this.box.parentElement.classList.toggle("empty", this.names.length === 0);
    const units = new Map();
    for (const name of this.names) {
      const unit = this.motion.signals.get(name).unit;
      units.set(unit, [...(units.get(unit) ?? []), name]);
    }
    for (const [name, names] of units) this.#panel(name, names);
    this.move(this.t);
  }

  #width() {
    return Math.max(180, this.box.clientWidth - 4);
  }

  // Wide panels, of a page without a machine, are higher too.
  #height() {
    return Math.round(Math.min(300, Math.max(170, 0.25 * this.#width())));
  }

  #panel(name, names) {
    const root = document.createElement("div"), keys = document.createElement("div"), cursor = document.createElement("div");
    root.className = "panel";
    keys.className = "keys";
    cursor.className = "cursor";
    this.box.append(root);
    const style = getComputedStyle(document.documentElement);
    const axis = { stroke: style.getPropertyValue("--text"), grid: { stroke: style.getPropertyValue("--line"), width: 1 }, ticks: { stroke: style.getPropertyValue("--line"), width: 1 } };
    const finite = (y) => Array.from(y, (v) => (Number.isFinite(v) ? v : null));
    const series = [{}], columns = [Array.from(this.motion.time)], bands = [];
    names.forEach((n, i) => {
      const colour = COLOURS[i % COLOURS.length], envelope = this.motion.envelope(n);
      if (envelope) {
        bands.push({ series: [series.length + 1, series.length], fill: colour + "55" });
        for (const edge of envelope) series.push({ stroke: colour + "88", width: 0.5, points: { show: false } }), columns.push(edge);
      }
      series.push({ stroke: colour, width: 1.5, label: n });
      columns.push(finite(this.motion.values(n)));
    });
    const all = this.#withOthers(names, series, columns, finite);
    const plot = new uPlot({
      width: this.#width(), height: this.#height(), legend: { show: false }, scales: { x: { time: false } },
      cursor: { drag: { x: false, y: false }, y: false }, padding: [8, 8, 0, 0], pxAlign: 0,
      axes: [{ ...axis, size: 28 }, { ...axis, size: (_, texts) => Math.max(54, 17 + 7.2 * Math.max(0, ...(texts ?? []).map((s) => s.length))), label: `[${unit(name) || "-"}]`, labelSize: 18, values: (_, ticks) => ticks.map(tick) }],
      series, bands,
    }, all, root);
    const values = names.map((n, i) => {
      const key = document.createElement("span"), mark = document.createElement("i"), text = document.createElement("b");
      mark.style.background = COLOURS[i % COLOURS.length];
      text.style.fontWeight = "normal";
      key.title = "remove";
      key.append(mark, n + " ", text);
      key.onclick = () => this.toggle(n);
      keys.append(key);
      return text;
    });
    root.append(keys, cursor);
    plot.over.addEventListener("pointerdown", (e) => {
      const go = (event) => this.seek(plot.posToVal(event.clientX - plot.over.getBoundingClientRect().left, "x"));
      go(e);
      plot.over.setPointerCapture(e.pointerId);
      plot.over.onpointermove = go;
      plot.over.onpointerup = () => (plot.over.onpointermove = null);
    });
    this.panels.push({ plot, cursor, names, values });
  }

  // Adds columns of other results, whose times may be different.
  #withOthers(names, series, columns, finite) {
    const tables = [columns];
    for (const [k, other] of this.others.entries()) {
      const have = names.filter((n) => other.signals.has(n));
      if (!have.length) continue;
      tables.push([Array.from(other.time), ...have.map((n) => finite(other.values(n)))]);
      for (const n of have) series.push({ stroke: COLOURS[names.indexOf(n) % COLOURS.length], width: 1.2, dash: [[6, 3], [2, 3], [8, 2, 2, 2]][k % 3], label: `${n} (${k + 2})`, spanGaps: true });
    }
    if (tables.length === 1) return columns;
    for (const s of series.slice(1)) s.spanGaps = true;
    return uPlot.join(tables.map((t) => distinct(t)));
  }

  #resize() {
    for (const p of this.panels) if (p.plot.width !== this.#width()) p.plot.setSize({ width: this.#width(), height: this.#height() });
    this.move(this.t);
  }

  move(t) {
    this.t = t;
    for (const { plot, cursor, names, values } of this.panels) {
      cursor.style.left = `${plot.over.offsetLeft + plot.valToPos(t, "x")}px`;
      cursor.style.top = `${plot.over.offsetTop}px`;
      cursor.style.height = `${plot.over.clientHeight}px`;
      names.forEach((n, i) => (values[i].textContent = [this.motion, ...this.others.filter((o) => o.signals.has(n))].map((m) => short(m.value(n, t))).join(" | ")));
    }
  }
}

// A table without repeated times, which uPlot cannot join: the last of equal ones stays.
function distinct([time, ...rest]) {
  const keep = time.map((t, i) => i + 1 === time.length || time[i + 1] > t);
  return [time, ...rest].map((c) => c.filter((_, i) => keep[i]));
}

// "m/s^2" as it is printed: m/s².
export function unit(name) {
  return name.replaceAll("^2", "²").replaceAll("^3", "³").replaceAll("*", "·");
}

// A number beside an axis: without digits that are 0 behind the others.
function tick(v) {
  const text = v !== 0 && (Math.abs(v) < 1e-3 || Math.abs(v) >= 1e6) ? Number(v.toPrecision(5)).toExponential() : String(Number(v.toPrecision(5)));
  return text.replaceAll("-", "−").replace("e+", "e");
}

// Five digits, with a true minus.
export function short(v) {
  if (v === null || !Number.isFinite(v)) return "–";
  const text = v !== 0 && (Math.abs(v) < 1e-3 || Math.abs(v) >= 1e6) ? v.toExponential(3) : String(Number(v.toPrecision(5)));
  return text.replaceAll("-", "−");
}

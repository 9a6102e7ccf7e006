// A page in headless Chromium, driven through its debugging pipe: no packages are needed.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const FLAGS = ["--headless=new", "--no-sandbox", "--remote-debugging-pipe", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
               "--no-first-run", "--disable-extensions", "--disable-background-networking", "--disable-component-update",
               "--disable-dev-shm-usage", "--hide-scrollbars", "--mute-audio"];

export class Browser {
  constructor(program) {
    this.profile = mkdtempSync(join(tmpdir(), "galpha-viewer-"));
    this.process = spawn(program, [...FLAGS, `--user-data-dir=${this.profile}`, "about:blank"], { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
    this.waiting = new Map();
    this.listeners = [];
    this.number = 0;
    let rest = "";
    this.process.stdio[4].setEncoding("utf8");
    this.process.stdio[4].on("data", (text) => {
      const pieces = (rest + text).split("\0");
      rest = pieces.pop();
      for (const piece of pieces) this.#receive(JSON.parse(piece));
    });
    this.process.on("exit", () => this.waiting.forEach(({ refuse }) => refuse(new Error("the browser has ended"))));
  }

  #receive(message) {
    const waits = this.waiting.get(message.id);
    if (!waits) return this.listeners.forEach((f) => f(message));
    this.waiting.delete(message.id);
    if (message.error) waits.refuse(new Error(message.error.message));
    else waits.take(message.result);
  }

  send(method, params = {}, sessionId) {
    const id = ++this.number;
    this.process.stdio[3].write(JSON.stringify({ id, method, params, sessionId }) + "\0");
    return new Promise((take, refuse) => this.waiting.set(id, { take, refuse }));
  }

  // Opens a page of this size in pixels; errors and requests of the page are collected.
  async open(url, width = 1200, height = 760, phone = false) {
    const { targetId } = await this.send("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await this.send("Target.attachToTarget", { targetId, flatten: true });
    const page = new Page(this, sessionId, targetId);
    this.listeners.push((m) => m.sessionId === sessionId && page.hear(m));
    for (const domain of ["Page", "Runtime", "Network", "Log"]) await page.send(`${domain}.enable`);
    await page.send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: phone ? 2 : 1, mobile: phone });
    if (phone) await page.send("Emulation.setTouchEmulationEnabled", { enabled: true });
    const loaded = page.event("Page.loadEventFired");
    await page.send("Page.navigate", { url });
    await loaded;
    return page;
  }

  async close() {
    const ended = new Promise((done) => this.process.once("exit", done));
    this.send("Browser.close").catch(() => {});
    const late = setTimeout(() => this.process.kill("SIGKILL"), 3000);
    await ended;
    clearTimeout(late);
    rmSync(this.profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}

class Page {
  constructor(browser, session, target) {
    Object.assign(this, { browser, session, target, errors: [], requests: [], awaited: [] });
  }
  send(method, params) {
    return this.browser.send(method, params, this.session);
  }
  event(method) {
    return new Promise((take) => this.awaited.push([method, take]));
  }
  hear({ method, params }) {
    this.awaited = this.awaited.filter(([m, take]) => m !== method || (take(params), false));
    if (method === "Runtime.exceptionThrown") this.errors.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
    if (method === "Runtime.consoleAPICalled" && ["error", "warning"].includes(params.type))
      this.errors.push(params.args.map((a) => a.value ?? a.description).join(" "));
    if (method === "Log.entryAdded" && ["error"].includes(params.entry.level)) this.errors.push(params.entry.text);
    if (method === "Network.requestWillBeSent") this.requests.push(params.request.url);
  }
  async run(expression) {
    const { result, exceptionDetails } = await this.send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails) throw new Error(`${expression}: ${exceptionDetails.exception?.description ?? exceptionDetails.text}`);
    return result.value;
  }
  async click(x, y) {
    for (const type of ["mouseMoved", "mousePressed", "mouseReleased"])
      await this.send("Input.dispatchMouseEvent", { type, x, y, button: type === "mouseMoved" ? "none" : "left", clickCount: 1 });
  }
  async key(key, text) {
    await this.send("Input.dispatchKeyEvent", { type: "keyDown", key, text });
    await this.send("Input.dispatchKeyEvent", { type: "keyUp", key });
  }
  async picture() {
    const { data } = await this.send("Page.captureScreenshot", { format: "png" });
    return Buffer.from(data, "base64");
  }
  close() {
    return this.browser.send("Target.closeTarget", { targetId: this.target });
  }
}

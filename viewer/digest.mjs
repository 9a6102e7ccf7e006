// A digest of what the page is made of, by which a test sees that viewer.html belongs to it.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

export function digest(folder) {
  const hash = createHash("sha256");
  const files = [...readdirSync(join(folder, "src")).map((f) => join("src", f)), "build.mjs", "digest.mjs", "package-lock.json"];
  for (const file of files.sort()) hash.update(file).update(readFileSync(join(folder, file)));
  return hash.digest("hex");
}

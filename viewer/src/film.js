// Films of the canvas: WebM as it plays, GIF frame by frame.
import { GIFEncoder, applyPalette, quantize } from "gifenc";

// Frames of `shoot(i, n)`, which draws frame i of n, as a GIF of at most `width` pixels; progress(u) is called.
export async function gif(canvas, n, delay, shoot, progress, width = 640) {
  const scale = Math.min(1, width / canvas.width), small = document.createElement("canvas");
  small.width = Math.max(2, Math.round(canvas.width * scale));
  small.height = Math.max(2, Math.round(canvas.height * scale));
  const c = small.getContext("2d", { willReadFrequently: true }), out = GIFEncoder();
  for (let i = 0; i < n; i++) {
    shoot(i, n);
    c.drawImage(canvas, 0, 0, small.width, small.height);
    const { data } = c.getImageData(0, 0, small.width, small.height), palette = quantize(data, 128);
    out.writeFrame(applyPalette(data, palette), small.width, small.height, { palette, delay });
    progress((i + 1) / n);
    await new Promise((done) => setTimeout(done));
  }
  out.finish();
  return new Blob([out.bytes()], { type: "image/gif" });
}

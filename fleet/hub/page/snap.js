// Draws detections over pictures, with boxwright's own drawing. Without this file, pages show the pictures without
// boxes.
import { drawCanvas } from "boxwright";

for (const canvas of document.querySelectorAll("canvas[data-detections]")) {
  const image = canvas.previousElementSibling;
  const draw = () => {
    canvas.width = image.naturalWidth;
    canvas.height = image.naturalHeight;
    try {
      drawCanvas(canvas.getContext("2d"), JSON.parse(canvas.dataset.detections));
      canvas.dataset.drawn = "yes";
    } catch (error) {
      canvas.nextElementSibling.textContent = `The detections cannot be drawn: ${error.message}`;
      canvas.dataset.drawn = "no";
    }
  };
  if (image.complete && image.naturalWidth > 0) draw();
  else image.addEventListener("load", draw);
}

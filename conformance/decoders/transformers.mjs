/** transformers.js: the functions that its pipeline "object-detection" calls after the network. */
import { pathToFileURL } from "node:url";

export const packages = ["@huggingface/transformers@4.3.2"];
export const bin = "@huggingface/transformers/dist/transformers.node.mjs";

/** Its networks of queries, with the processor of each, and its names of the two tensors. */
const READS = {
  detr: ["DetrImageProcessor", "logits", "pred_boxes"],
  "dfine-raw": ["RTDetrImageProcessor", "logits", "pred_boxes"],
  "rfdetr-coco": ["DetrImageProcessor", "labels", "dets"],
  "rfdetr-custom": ["DetrImageProcessor", "labels", "dets"],
};

export async function open(program) {
  const module = await import(pathToFileURL(program).href);
  return {
    name: "transformers.js",
    licence: "Apache-2.0",
    how: "`post_process_object_detection` of the network's image processor",
    rules: ["best class"],
    decode(c) {
      if (!READS[c.id]) return undefined;
      const [processor, ...names] = READS[c.id];
      const [logits, boxes] = names.map((name) => {
        const { data, dims } = c.tensors.find((t) => t.name === name);
        return new module.Tensor("float32", data, dims);
      });
      const { post_process_object_detection: process } = module[processor].prototype;
      const [found] = process({ logits, pred_boxes: boxes }, c.confidence, [[1, 1]]);
      return found.scores.map((confidence, i) => {
        const [x_min, y_min, x_max, y_max] = found.boxes[i];
        return { class_id: found.classes[i], confidence: Number(confidence), x_min, y_min, x_max, y_max };
      });
    },
  };
}

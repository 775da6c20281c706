/** Opens @ultralytics/yolo in a page. The package is served beside the page: it is AGPL-3.0, and never bundled. */

/** Types of @ultralytics/yolo for this file: the steps around a network that the caller runs. */
export interface Pipeline {
  preprocess_rgba(rgba: Uint8Array, width: number, height: number): Float32Array;
  postprocess(
    outputs: Float32Array[],
    shapes: Uint32Array,
    milliseconds: number,
    confidence: number,
    iou: number,
    classes: null,
    colormap: string,
    depthViz: string,
  ): { boxes: { x1: number; y1: number; x2: number; y2: number; conf: number; cls: number }[] };
}

export async function openPipeline(): Promise<Pipeline> {
  // The bundler must not follow this name: the package is served beside the page.
  const url = "/ultralytics/pkg/ultralytics_inference_web.js";
  const module = (await import(/* @vite-ignore */ url)) as {
    default(): Promise<unknown>;
    YoloPipeline: new (tflite: Uint8Array) => Pipeline;
  };
  await module.default();
  const metadata = await fetch("/metadata.zip");
  return new module.YoloPipeline(new Uint8Array(await metadata.arrayBuffer()));
}

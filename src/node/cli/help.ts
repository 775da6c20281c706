/** What `--help` prints. Every option of `options.ts` stands here; a test compares the two. */

const network = `Network, instead of a config file or over what it says:
  --family NAME            yolov3, yolov5, yolov8, nanodet, ssd, ... (see README)
  --classes N              number of classes
  --labels FILE|a,b,c      class names, one a line or separated by commas
  --input-size WxH         network input in pixels
  --anchors w,h,w,h,...    anchors in input pixels (yolov2: in cells); not beside a config file
  --masks JSON             which anchors belong to which map: '{"side26":[0,1,2],"side13":[3,4,5]}'; not beside a config file
  --strides 8,16,32        pixels per cell, from the largest map to the smallest
  --scale-xy X             scale_x_y, one number or one per map
  --activation NAME        sigmoid (already probabilities), logits or softmax (raw)
  --reading NAME           which reading to take, where shapes allow several
  --box-format NAME        cxcywh, xyxy, xywh, yxyx, cycxhw
  --coordinates NAME       pixels or normalised
  --background N|none      class column that means "nothing here"
  --priors FILE            tensor file with the priors of an SSD head
  --prior-format NAME      how they are written: xyxy, cxcywh, cycxhw
  --variances a,b,c,d      factors of prior-based boxes, or
  --scales a,b,c,d         their inverse
  --role PART=NAME         which tensor plays which part (boxes, scores, objectness, labels, priors, count); repeatable
  --conventions NAME       depthai, depthai-nodes, gen1, ultralytics, opencv, tflite

Rules:
  --confidence X           threshold of the score
  --iou X                  threshold of the overlap
  --max N                  at most so many detections
  --keep a,b,3             only these classes, by name or id
  --engine NAME            auto, simd, scalar, ts
  --only a,b               only these tensors of the files
  --quantised NAME=SCALE,ZERO
                           scale and zero point of a tensor of integers whose file does not say them; repeatable`;

const withoutEngine = network.replace(/\n {2}--engine.*/, "");

const frame = `Photo:
  --photo FILE             PNG or JPEG the network saw: coordinates come back relative to it
  --image-size WxH         its size, where the file is not at hand
  --resize NAME            how it was fitted into the network input: stretch (default), letterbox, letterbox-topleft`;

const files = `Tensor files: .npy, .npz, .safetensors, and .bin with a JSON beside it (x.bin.json, x.json, meta.json); any of them
may be gzipped. A JSON that lists tensors ([{"name", "file", "dtype", "shape"}]) stands for all of them;
"scale" and "zeroPoint" there are those of integers; of other files --quantised says them.
CONFIG is the network's own file (.onnx, .tflite), an NN Archive (.tar, .tar.gz, .tar.xz) or its config.json, an NN_config or
nn_config file, or typed options.`;

export const HELP: Record<string, string> = {
  "": `boxwright turns the raw output tensors of YOLO and SSD networks into labelled boxes.

Usage: boxwright COMMAND [options]

  decode    tensors to detections, as a table or as JSON
  draw      boxes, labels and scores over a photo, as SVG or PNG
  inspect   a config, an archive, tensor files or shapes: what would be decoded, and how
  compile   a config and shapes to a plan file, for small bundles and for C

boxwright COMMAND --help tells more; boxwright --version prints the version.
Exit code: 0 done, 1 what was given cannot be decoded, 2 wrong usage.
`,

  decode: `Usage: boxwright decode [CONFIG] TENSORS... [options]

Prints the detections, coordinates 0..1 (and pixels, where the photo's size is known).

  --json                   print {"output_format": "detection", "detections": [...]}

${frame}

${network}

${files}

Example:
  boxwright decode config.json outputs/meta.json --activation logits --photo cat.png
`,

  draw: `Usage: boxwright draw [CONFIG] TENSORS... --photo FILE [options]
       boxwright draw --detections FILE --photo FILE [options]

Draws the detections on the photo.

  --out FILE               .svg or .png; repeatable; default: the photo's name with .boxes.svg
  --detections FILE        draw these instead of decoding: what "decode --json" printed
  --index N                which image of a batch (default 0)
  --font FILE              .ttf or .otf font for PNG (default: DejaVu Sans of the package dejavu-fonts-ttf)
  --width N                width of a PNG in pixels (default: that of the photo)

SVG needs nothing else. PNG needs the optional packages: npm install @resvg/resvg-js dejavu-fonts-ttf

${frame}

${network}

${files}

Example:
  boxwright draw config.json outputs.npz --photo cat.jpg --resize letterbox --out cat.png
`,

  inspect: `Usage: boxwright inspect [CONFIG] [TENSORS | NAME:SHAPE[:TYPE[:SCALE,ZERO]]]... [options]

Says what each tensor is taken for and why; of shapes alone, what they can be, and the line of config that settles it.

  --json                   print the same as JSON

${withoutEngine}

${files}

Examples:
  boxwright inspect model.onnx
  boxwright inspect archive.tar.xz
  boxwright inspect output0:1x84x8400:f32
  boxwright inspect boxes:1x1917x4:u8:0.07,128 scores:1x1917x91:u8:0.004,0
  boxwright inspect --family yolov5 --classes 80 --input-size 640x640 output0:1x25200x85
`,

  compile: `Usage: boxwright compile [CONFIG] [TENSORS...] --outputs NAME:SHAPE[:TYPE[:SCALE,ZERO]],... [options] --out plan.bin

Writes the plan of a network as a file: boxwright/plan decodes by it in JavaScript, in half the bytes, and embedded/ in C
(embedded/README.md).
Says on the error stream how much memory a decoder of it needs.

  --outputs LIST           name, shape and type of each output, separated by commas; repeatable. Not needed where the
                           config gives them, or where tensor files are given
  --c NAME                 write C source with an array of this name instead of the file, for less memory
  --out FILE               write here instead of to standard output
  --kernel FILE            write the kernel too, with a memory of its own, large enough for this plan (wasm3, WAMR)

${withoutEngine}

${files}

Examples:
  boxwright compile config.json --outputs out:1x255x13x13:f32 --out plan.bin
  boxwright compile config.json --outputs "boxes:1x1917x4:u8:0.07,128,scores:1x1917x91:u8:0.004,0" --c detector --out detector.h
`,
};

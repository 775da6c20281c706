/** Wrong usage: exit code 2, one message, nothing on standard output. */
import { expect, test } from "vitest";
import { boxwright, ssd } from "../../support/cli.ts";
import { fixture } from "../../support/files.ts";

test.each<[string, string[], RegExp]>([
  [
    "no command",
    [],
    /no command is given: expected run, decode, draw, inspect, compile\nTry: boxwright --help/,
  ],
  [
    "another command",
    ["detect"],
    /unknown command "detect": expected run, decode, draw, inspect, compile\nTry: boxwright --help/,
  ],
  ["a name like a method", ["constructor"], /unknown command "constructor"/],
  [
    "an unknown option",
    ["decode", "--colour"],
    /unknown option --colour. decode has no option like it.\nTry: boxwright decode --help\n/,
  ],
  [
    "an option of other commands",
    ["decode", "--out", "x"],
    /unknown option --out. It is an option of run, draw, inspect and compile, not of decode.\n/,
  ],
  [
    "the beginning of an option",
    ["decode", "--conf", "0.5"],
    /unknown option --conf. Did you mean --confidence\?\n/,
  ],
  [
    "the beginning of two",
    ["decode", "--ang", "0.5"],
    /unknown option --ang. Did you mean --angle-range or --angle-form\?\n/,
  ],
  [
    "an option and more",
    ["decode", "--labels-file", "x"],
    /unknown option --labels-file. Did you mean --labels\?\n/,
  ],
  [
    "what others call it",
    ["decode", "--minscore", "0.5"],
    /unknown option --minscore. Did you mean --confidence\?\n/,
  ],
  ["what others call it", ["run", "--max-det", "9"], /unknown option --max-det. Did you mean --max\?\n/],
  [
    "what others call it",
    ["compile", "--input-shape", "9"],
    /unknown option --input-shape. Did you mean --input-size\?\n/,
  ],
  [
    "what others call it",
    ["inspect", "--kpt-shape", "17x3"],
    /unknown option --kpt-shape. Did you mean --keypoints\?\n/,
  ],
  ["what others call it", ["decode", "--nms", "0.5"], /unknown option --nms. Did you mean --iou\?\n/],
  [
    "what others call it, where several are meant",
    ["decode", "--scale", "2"],
    /unknown option --scale. Did you mean --scale-xy or --scales or --quantised\?\n/,
  ],
  ["a size of nothing", ["inspect", "o:0x84x8400"], /o:0x84x8400: got a size of 0, expected 1 or more\n/],
  ["what others call it", ["draw", "--output", "x.svg"], /unknown option --output. Did you mean --out\?\n/],
  [
    "what the library calls it",
    ["decode", "--iou-threshold=0.5"],
    /unknown option --iou-threshold. Did you mean --iou\?\n/,
  ],
  [
    "letters in disorder",
    ["decode", "--confidecne", "1"],
    /unknown option --confidecne. Did you mean --confidence\?\n/,
  ],
  [
    "a name like a method as an option",
    ["decode", "--toString"],
    /unknown option --toString. decode has no option like it./,
  ],
  ["a missing value", ["decode", "--iou"], /--iou has no value: write --iou X\n/],
  [
    "an option for a value",
    ["decode", "--iou", "--json"],
    /--iou has no value, and "--json" after it looks like an option. Write --iou=--json if it is the value./,
  ],
  ["a value too many", ["decode", "--json=3"], /--json takes no value: got "3"/],
  [
    "no config",
    ["decode", fixture("files/c.npy")],
    /no network is described. Pass a config file, an NN Archive, or --family and --classes: boxwright inspect lists /,
  ],
  [
    "no tensors",
    ["decode", fixture("mobilenet-ssd/config.json")],
    /no tensors are given. Pass tensor files./,
  ],
  [
    "two configs",
    ["decode", fixture("mobilenet-ssd/config.json"), fixture("yolo-fastest-1.1/config.json")],
    /2 configs are given: .*mobilenet-ssd.config.json, .*config.json. Pass one./,
  ],
  [
    "a number that is none",
    ["decode", ...ssd("coffee"), "--iou", "x"],
    /--iou: got "x", expected a number from 0 to 1/,
  ],
  [
    "a threshold beyond 1",
    ["decode", ...ssd("coffee"), "--confidence", "50"],
    /--confidence: got "50", expected a number from 0 to 1/,
  ],
  [
    "half a detection",
    ["decode", ...ssd("coffee"), "--max", "1.5"],
    /--max: got "1.5", expected a whole number/,
  ],
  [
    "more than are ever counted",
    ["decode", ...ssd("coffee"), "--max", "1e9"],
    /--max: got "1e9", expected a number from 1 to 999999999/,
  ],
  [
    "a size that is none",
    ["decode", ...ssd("coffee"), "--input-size", "640"],
    /--input-size: got "640", expected WxH/,
  ],
  [
    "labels that are none",
    ["decode", ...ssd("coffee"), "--labels", "nofile.txt"],
    /--labels: got "nofile.txt"/,
  ],
  [
    "a tensor that is not there",
    ["decode", ...ssd("coffee"), "--only", "x"],
    /--only: got "x", expected one of detection_out/,
  ],
  [
    "a way to resize that is none",
    ["decode", ...ssd("coffee"), "--image-size", "9x9", "--resize", "fold"],
    /--resize: got "fold", expected stretch, letterbox/,
  ],
  [
    "--resize alone",
    ["decode", ...ssd("coffee"), "--resize", "letterbox"],
    /--resize needs the size of the photo. Add --photo or --image-size./,
  ],
  [
    "a size other than the photo's",
    ["decode", ...ssd("coffee"), "--photo", fixture("photos/coffee.jpg"), "--image-size", "9x9"],
    /--image-size: got 9x9, expected 600x400/,
  ],
  ["no photo", ["draw", ...ssd("coffee")], /--photo is missing. Name the PNG or JPEG to draw on./],
  [
    "a picture of another kind",
    ["draw", ...ssd("coffee"), "--photo", fixture("photos/coffee.jpg"), "--out", "x.gif"],
    /--out: got "x.gif", expected a name that ends in .svg or .png/,
  ],
  [
    "an image the batch has not",
    ["draw", ...ssd("coffee"), "--photo", fixture("photos/coffee.jpg"), "--index", "1"],
    /--index: got 1, expected 0..0, an image of the batch/,
  ],
  [
    "a role that is none",
    ["decode", "--family", "ssd", "--role", "x", fixture("files/c.npy")],
    /--role: got "x", expected PART=NAME/,
  ],
  [
    "anchors of maps that are no JSON",
    ["decode", "--family", "yolov3", "--anchor-masks", "{", fixture("files/c.npy")],
    /--anchor-masks: got "\{", expected JSON, for example/,
  ],
  [
    "anchors of maps among the masks",
    ["decode", "--family", "yolov3", "--masks", "[[0]]", fixture("files/c.npy")],
    /--masks: got "\[\[0\]\]", expected rle or png\. Anchors of feature maps are given by --anchor-masks/,
  ],
  [
    "masks in a form that there is not",
    ["decode", "--family", "yolov8", "--masks", "jpeg", fixture("files/c.npy")],
    /--masks: got "jpeg", expected rle or png$/m,
  ],
  [
    "anchors that are none",
    ["decode", "--family", "yolov3", "--anchors", "1,x", fixture("files/c.npy")],
    /--anchors: got "1,x", expected numbers/,
  ],
  [
    "priors that are none",
    ["decode", "--family", "ssd", "--priors", fixture("files/stored.npz"), fixture("files/c.npy")],
    /--priors: .* expected a file with one f32 tensor, not boxes \(f32\), scores \(f16\), ids \(i64\)/,
  ],
  [
    "nothing to inspect",
    ["inspect"],
    /nothing to inspect is given. Pass a config, an archive, tensor files or shapes such as output0:1x84x8400:f32./,
  ],
  [
    "a type that is none",
    ["inspect", "a:1x2:complex"],
    /a:1x2:complex: got type "complex", expected one of f32 /,
  ],
  ["a name twice", ["inspect", "a:1x2", "a:1x3"], /tensor "a" is given twice. Each name may occur once./],
  [
    "a threshold that is blank",
    ["decode", ...ssd("coffee"), "--confidence", " "],
    /--confidence: got " ", expected a number from 0 to 1/,
  ],
  [
    "nothing to keep",
    ["decode", ...ssd("coffee"), "--keep", ""],
    /--keep: got "", expected names separated by commas/,
  ],
  ["nothing of all", ["decode", ...ssd("coffee"), "--only", " , "], /--only: got " , ", expected names/],
  [
    "no names",
    ["decode", ...ssd("coffee"), "--labels", ",,"],
    /--labels: got ",,", expected one name or more/,
  ],
  [
    "names as JSON",
    ["decode", ...ssd("coffee"), "--labels", fixture("mobilenet-ssd/config.json")],
    /--labels .*config.json: got JSON, expected one name per line, an id and a name per line/,
  ],
  [
    "names in another encoding",
    ["decode", ...ssd("coffee"), "--labels", fixture("photos/coffee.jpg")],
    /--labels: got .*, expected a text file in UTF-8/,
  ],
  [
    "anchors without a family",
    ["inspect", "a:1x255x13x13", "--anchors", "1,2"],
    /--anchors describes a network without a family. Add --family./,
  ],
  [
    "detections and a threshold",
    ["draw", "--detections", "d.json", "--photo", fixture("photos/coffee.jpg"), "--confidence", "0.9"],
    /--confidence has no effect on --detections, which are drawn as they are. Remove one of the two./,
  ],
  [
    "a size that is not that of the detections",
    ["draw", "--detections", "d.json", "--photo", fixture("photos/coffee.jpg"), "--image-size", "6x4"],
    /--image-size has no effect on --detections/,
  ],
  [
    "detections beside tensors",
    ["draw", "x.npy", "--detections", "d.json", "--photo", fixture("photos/coffee.jpg")],
    /--detections takes the place of x.npy. Remove the files, or --detections./,
  ],
])("%s: exit code 2", async (_, argv, message) => {
  const { code, out, err } = await boxwright(...argv);
  expect(err).toMatch(message);
  expect({ code, out }).toEqual({ code: 2, out: "" });
  expect(err).toMatch(/^boxwright: /);
  expect(err).not.toMatch(/^ {4}at /m);
});

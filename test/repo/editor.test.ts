/** An editor completes the names of options. Asks the TypeScript language service, as editors do. */
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));
const file = `${root}test/repo/.editor.tmp.ts`;
const IMPORT =
  'import { createDecoder, createDecoderSync, drawCanvas, nms } from "../../src/entries/index.ts";\n' +
  'import * as core from "../../src/entries/core.ts";\n';

let text = "";
let version = 0;
const service = ts.createLanguageService({
  getScriptFileNames: () => [file],
  getScriptVersion: (name) => (name === file ? String(version) : "1"),
  getScriptSnapshot(name) {
    const content = name === file ? text : ts.sys.readFile(name);
    return content === undefined ? undefined : ts.ScriptSnapshot.fromString(content);
  },
  getCurrentDirectory: () => root,
  getCompilationSettings: () => ({
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    strict: true,
    noEmit: true,
    allowImportingTsExtensions: true,
  }),
  getDefaultLibFileName: ts.getDefaultLibFilePath,
  fileExists: ts.sys.fileExists,
  readFile: ts.sys.readFile,
});

/** Returns what is offered where a program has a bar. */
function offered(program: string): string[] {
  text = IMPORT + program.replace("|", "");
  version++;
  const at = IMPORT.length + program.indexOf("|");
  return service.getCompletionsAtPosition(file, at, {})?.entries.map(({ name }) => name) ?? [];
}

test.each([
  ["createDecoder({ | });", ["family", "classes", "inputSize", "task"]],
  ["createDecoderSync({ | });", ["family", "classes", "inputSize", "task"]],
  ['createDecoder({ family: "yolov8", | });', ["classes", "inputSize", "task"]],
  ['createDecoder({ family: "|" });', ["yolov8", "scrfd", "boxes"]],
  ['createDecoder({ family: "yolov8", task: "|" });', ["pose", "segment", "oriented"]],
  ["createDecoder(JSON.parse(''), { | });", ["engine", "confidenceThreshold", "onNote"]],
  ["core.createDecoder({ | }, { tasks: [core.pose] });", ["family", "classes", "inputSize", "task"]],
  ["core.createDecoder({}, { | });", ["tasks", "engine"]],
  ["nms([], [], { | });", ["iouThreshold", "boxFormat"]],
])("%s", (program, names) => {
  const list = offered(program);
  expect(list).toEqual(expect.arrayContaining(names));
  // A list of everything in scope is what an editor offers where it knows no option.
  expect(list).not.toContain("AbortController");
});

/** Returns what the compiler says of a program. */
function problemsOf(program: string): string[] {
  text = IMPORT + program;
  version++;
  return service
    .getSemanticDiagnostics(file)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"));
}

const POSE = '{ family: "yolov8", task: "pose", classes: 1, keypoints: [17, 3], inputSize: [640, 640] }';
const ORIENTED = '{ family: "yolo11", task: "oriented", classes: 15, inputSize: [640, 640] }';
const BOXES = '{ family: "yolov8", classes: 1, inputSize: [640, 640] }';

test.each([
  [`for (const d of createDecoderSync(${POSE}).decode()) d.keypoints.length;`],
  [`createDecoderSync(${POSE}).decode().copy().keypoints.length;`],
  [`void createDecoder(${POSE}).then((decoder) => decoder.decode().toArray()[0].keypoints[0].x);`],
  [`for (const d of createDecoderSync(${ORIENTED}).decode()) d.corners.length + d.angle;`],
  [`core.createDecoderSync(${POSE}, { tasks: [core.pose] }).decodeBatch()[0].keypoints.length;`],
  ["core.createDecoderSync(JSON.parse(''), { tasks: [core.pose, core.prepare] }).decode().keypoints.length;"],
  ["core.createDecoderSync({} as unknown, { tasks: [core.oriented] }).decode().angles.length;"],
  [`core.createDecoderSync(${ORIENTED}, { tasks: [core.pose, core.oriented] }).decode().angles.length;`],
])("the task makes its fields certain: %s", (program) => {
  expect(problemsOf(program)).toEqual([]);
});

test.each([
  [`for (const d of createDecoderSync(${BOXES}).decode()) d.keypoints.length;`, "'d.keypoints' is possibly"],
  ["createDecoderSync(JSON.parse('')).decode().keypoints.length;", "is possibly 'undefined'"],
  ["core.createDecoderSync('').decode().keypoints.length;", "is possibly 'undefined'"],
  [`core.createDecoderSync(${BOXES}, { tasks: [core.pose] }).decode().keypoints.length;`, "is possibly"],
  [
    "core.createDecoderSync(JSON.parse(''), { tasks: [core.pose, core.masks] }).decode().keypoints.length;",
    "is possibly 'undefined'",
  ],
  ["core.createDecoderSync('', { tasks: [core.pose], engin: 1 });", "'engin' does not exist"],
])("without it they may be missing: %s", (program, problem) => {
  expect(problemsOf(program).join()).toContain(problem);
});

test.each([
  ["CanvasRenderingContext2D", 0],
  ["OffscreenCanvasRenderingContext2D", 0],
  // The canvas itself is no context.
  ["HTMLCanvasElement", 1],
])("drawCanvas on a value of the page's own type %s", (type, problems) => {
  expect(problemsOf(`declare const target: ${type}; drawCanvas(target, []);`)).toHaveLength(problems);
});

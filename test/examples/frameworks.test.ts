/** Runs each module of examples/frameworks with its framework from npm, and with a fake detector. */
import { cpSync, mkdirSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll, describe, expect, test, vi } from "vitest";
import { obtain } from "../runtimes/install.mjs";
import { isAtHand } from "../support/browser.ts";
import { tempFolder } from "../support/files.ts";
import { exampleUrl } from "./run-example.ts";

const folder = tempFolder();
afterAll(() => vi.unstubAllEnvs());

interface State {
  readonly detections: readonly string[];
  readonly error: Error | null;
}

/** Waits until code after settled promises has run. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A detector whose stream yields the frames that are passed to `send`, until its signal aborts. */
class FakeDetector {
  readonly videos: unknown[] = [];
  readonly signals: AbortSignal[] = [];
  #next: ((frame: string[] | Error) => void) | null = null;

  async *detectAll(video: unknown, { signal }: { signal: AbortSignal }): AsyncGenerator<string[]> {
    this.videos.push(video);
    this.signals.push(signal);
    while (!signal.aborted) {
      const frame = await new Promise<string[] | Error>((resolve) => (this.#next = resolve));
      if (frame instanceof Error) throw frame;
      yield frame;
    }
  }

  async send(frame: string[] | Error): Promise<void> {
    await settle();
    this.#next?.(frame);
    await settle();
  }
}

/** Imports an example beside its framework in node_modules. Returns the module, and a `require` of that folder. */
async function load(name: string, runtime: string): Promise<{ module: object; require: NodeJS.Require }> {
  const program = await obtain(runtime);
  const place = folder.path(runtime);
  mkdirSync(place, { recursive: true });
  const modules = program.slice(0, program.lastIndexOf("node_modules") + "node_modules".length);
  symlinkSync(modules, join(place, "node_modules"), "junction");
  // Name the copy .mjs: its folder has no package.json that says "type": "module".
  const copy = join(place, name.replace(".js", ".mjs"));
  cpSync(fileURLToPath(exampleUrl(`frameworks/${name}`)), copy);
  return {
    module: (await import(pathToFileURL(copy).href)) as object,
    require: createRequire(join(dirname(copy), "x.js")),
  };
}

/** A mounted module: its state, and functions that change its detector and video, or unmount it. */
interface Mounted {
  readonly state: () => State;
  readonly change: (detector: FakeDetector | null, video: unknown) => Promise<void>;
  readonly unmount: () => Promise<void>;
  /** Runs a step that changes the state, inside `act` for React. */
  readonly act: (step: () => Promise<void>) => Promise<void>;
}
type Mount = (detector: FakeDetector | null, video: unknown) => Promise<Mounted>;

function mountReact(runtime: string): Mount {
  return async (detector, video) => {
    // Leave production mode, in which React has no `act`.
    vi.stubEnv("NODE_ENV", "test");
    const { module, require } = await load("react.js", runtime);
    const { useDetector } = module as { useDetector: (d: unknown, v: unknown) => State };
    type Act = (step: () => Promise<void>) => Promise<void>;
    const { createElement, act: ofReact } = require("react") as {
      createElement: (type: unknown, props: object) => object;
      act?: Act;
    };
    // Take `act` from the renderer for React 18.
    const { act: ofRenderer, create } = require("react-test-renderer") as {
      act: Act;
      create: (element: object) => { update(element: object): void; unmount(): void };
    };
    const act = ofReact ?? ofRenderer;
    (globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean }).IS_REACT_ACT_ENVIRONMENT = true;
    let state: State = { detections: ["none"], error: null };
    const View = (props: { detector: unknown; video: unknown }): null => {
      state = useDetector(props.detector, props.video);
      return null;
    };
    let root: ReturnType<typeof create> | undefined;
    await act(async () => void (root = create(createElement(View, { detector, video }))));
    return {
      state: () => state,
      act,
      change: (d, v) => act(async () => root?.update(createElement(View, { detector: d, video: v }))),
      unmount: () => act(async () => root?.unmount()),
    };
  };
}

const direct = (step: () => Promise<void>): Promise<void> => step();

const mountVue: Mount = async (detector, video) => {
  const { module, require } = await load("vue.js", "vue");
  const { useDetector } = module as { useDetector: (d: object, v: object) => { value: State } };
  const { effectScope, shallowRef, nextTick } = require("vue") as {
    effectScope: () => { run<T>(body: () => T): T; stop(): void };
    shallowRef: (value: unknown) => { value: unknown };
    nextTick: () => Promise<void>;
  };
  const refs = [shallowRef(detector), shallowRef(video)];
  const scope = effectScope();
  const found = scope.run(() => useDetector(refs[0], refs[1]));
  return {
    state: () => found.value,
    act: direct,
    change: async (d, v) => {
      [refs[0].value, refs[1].value] = [d, v];
      await nextTick();
    },
    unmount: async () => scope.stop(),
  };
};

const mountSvelte: Mount = async (detector, video) => {
  const { module } = await load("svelte.js", "svelte");
  const { detectorStore } = module as {
    detectorStore: (d: unknown, v: unknown) => { subscribe(set: (state: State) => void): () => void };
  };
  let state: State = { detections: ["none"], error: null };
  const follow = (d: unknown, v: unknown) => detectorStore(d, v).subscribe((next) => (state = next));
  let stop = follow(detector, video);
  return {
    state: () => state,
    act: direct,
    change: async (d, v) => {
      stop();
      stop = follow(d, v);
    },
    unmount: async () => stop(),
  };
};

/** A worker that answers each picture with its name, and remembers whether two waited at once. */
class FakeWorker extends EventTarget {
  waiting = 0;
  most = 0;

  async postMessage(picture: string): Promise<void> {
    this.most = Math.max(this.most, ++this.waiting);
    await settle();
    this.waiting--;
    this.say(picture === "dark" ? { error: "no light" } : { detections: [picture] });
  }

  say(data: object): void {
    this.dispatchEvent(new MessageEvent("message", { data }));
  }
}

test("worker.js finds in a worker, one picture at a time, and ends with its signal", async () => {
  vi.stubGlobal("createImageBitmap", async (video: { name: string }) => video.name);
  const { openInWorker } = (await import(exampleUrl("frameworks/worker.js").href)) as {
    openInWorker: (worker: unknown) => Promise<Pick<FakeDetector, "detectAll">>;
  };
  const worker = new FakeWorker();
  const video = (name: string) => ({ name, ended: false, requestVideoFrameCallback: setImmediate });
  const opening = openInWorker(worker);
  worker.say({ ready: true });
  const detector = await opening;
  const end = new AbortController();
  const loops = ["cat", "dog"].map((name) => detector.detectAll(video(name), { signal: end.signal }));
  expect(await Promise.all(loops.map((loop) => loop.next()))).toMatchObject([
    { value: ["cat"] },
    { value: ["dog"] },
  ]);
  expect(worker.most).toBe(1);
  const dark = detector.detectAll(video("dark"), { signal: end.signal });
  await expect(dark.next()).rejects.toThrow("no light");
  end.abort();
  expect(await loops[0].next()).toMatchObject({ done: true });

  const failed = openInWorker(worker);
  worker.dispatchEvent(Object.assign(new Event("error"), { message: "got no model" }));
  await expect(failed).rejects.toThrow("got no model");
  vi.unstubAllGlobals();
});

const FRAMEWORKS: readonly (readonly [runtime: string, mount: Mount])[] = [
  ["react18", mountReact("react18")],
  ["react19", mountReact("react19")],
  ["vue", mountVue],
  ["svelte", mountSvelte],
];

for (const [runtime, mount] of FRAMEWORKS)
  describe.skipIf(!isAtHand(runtime))(runtime, () => {
    test("shows frames and errors, follows another video, and ends with the view", async () => {
      const detector = new FakeDetector();
      const view = await mount(null, null);
      expect(view.state()).toEqual({ detections: [], error: null });
      await view.change(detector, null);
      expect(detector.videos).toEqual([]);
      await view.change(detector, "street");
      await view.act(() => detector.send(["cat"]));
      expect(view.state()).toEqual({ detections: ["cat"], error: null });

      await view.change(detector, "yard");
      expect(detector.signals.map((signal) => signal.aborted)).toEqual([true, false]);
      expect(detector.videos).toEqual(["street", "yard"]);
      expect(view.state()).toEqual({ detections: [], error: null });
      await view.act(() => detector.send(["dog"]));
      expect(view.state().detections).toEqual(["dog"]);
      await view.act(() => detector.send(new Error("the camera is gone")));
      expect(view.state()).toMatchObject({ detections: [], error: { message: "the camera is gone" } });

      await view.unmount();
      expect(detector.signals.every((signal) => signal.aborted)).toBe(true);
    });
  });

import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, renameSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pino } from "pino";
import { describe, expect, it, onTestFinished } from "vitest";
import { argumentsFor, playlistFor } from "../../src/sources/ffmpeg.ts";
import { FolderSource } from "../../src/sources/folder.ts";
import { LiveSource } from "../../src/sources/live.ts";
import { readPicture } from "../../src/sources/picture.ts";
import { PpmReader } from "../../src/sources/ppm.ts";
import type { Source, SourceFrame } from "../../src/sources/source.ts";
import { VideoSource } from "../../src/sources/video.ts";
import { photoOf } from "../support/echo.ts";
import { temporaryFolder, writePhotos } from "../support/folder.ts";
import { until } from "boxwright-service/testing/wait";
import { hasFfmpeg } from "../support/tools.ts";

const LOG = pino({ level: "silent" });
const NEVER = new AbortController().signal;

/** The number that `photoOf` hid in a frame. */
const numberOf = ({ image }: SourceFrame): number => (image.data as Uint8Array)[0]!;

async function readAll(source: Source, isDone = true): Promise<SourceFrame[]> {
  const frames: SourceFrame[] = [];
  for (;;) {
    const frame = await source.next(NEVER);
    if (!frame) return frames;
    if (isDone) frame.done();
    frames.push(frame);
  }
}

describe("a folder", () => {
  const open = (folder: string, isWatched = false): FolderSource => {
    const options = { camera: "c", path: join(folder, "photos"), isWatched, every: 20 };
    const source = new FolderSource(options, join(folder, "state"), LOG);
    onTestFinished(() => source.close().catch(() => undefined));
    return source;
  };
  const setUp = async (count: number): Promise<string> => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "photos"));
    await writePhotos(join(folder, "photos"), count);
    return folder;
  };

  it("gives its photos in order, with those of folders inside", async () => {
    const folder = await setUp(3);
    mkdirSync(join(folder, "photos", "00001b"));
    writeFileSync(join(folder, "photos", "00001b", "x.PNG"), await photoOf(77));
    writeFileSync(join(folder, "photos", "notes.txt"), "no photo");
    expect((await readAll(open(folder))).map(numberOf)).toEqual([0, 1, 77, 2]);
  });

  it("leaves out after a restart what was done, and gives the rest under the same ids", async () => {
    const folder = await setUp(5);
    const first = open(folder);
    const [a, b] = [await first.next(NEVER), await first.next(NEVER)];
    a!.done();
    await first.close();
    const second = await readAll(open(folder));
    expect(second.map(numberOf)).toEqual([1, 2, 3, 4]);
    expect(second[0]!.id).toBe(b!.id);
    expect(new Set(second.map(({ id }) => id)).size).toBe(4);
  });

  it("begins anew when a run was complete, and gives the same ids", async () => {
    const folder = await setUp(2);
    const first = open(folder);
    const ids = (await readAll(first)).map(({ id }) => id);
    expect(await readAll(open(folder))).toEqual([]);
    first.finish();
    expect((await readAll(open(folder))).map(({ id }) => id)).toEqual(ids);
  });

  it("that is watched gives photos that come later, once they are whole", async () => {
    const folder = await setUp(1);
    const source = open(folder, true);
    expect(numberOf((await source.next(NEVER))!)).toBe(0);
    const photo = await photoOf(9);
    // A program that copies slowly: the file grows.
    const path = join(folder, "photos", "00009.png");
    for (let part = 1; part < 6; part++) {
      writeFileSync(path, photo.subarray(0, part * 10));
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    writeFileSync(path, photo);
    expect(numberOf((await source.next(NEVER))!)).toBe(9);
    // A photo in the place of another one is a new one.
    writeFileSync(`${path}.new`, await photoOf(8));
    renameSync(`${path}.new`, path);
    expect(numberOf((await source.next(NEVER))!)).toBe(8);
    const end = new AbortController();
    setTimeout(() => end.abort(), 100);
    expect(await source.next(end.signal)).toBeNull();
  });

  it("that is watched and goes away for a while says so", async () => {
    const folder = await setUp(1);
    const source = open(folder, true);
    const moved = join(folder, "moved");
    renameSync(join(folder, "photos"), moved);
    const next = source.next(NEVER);
    await until(() => source.problem !== null, "the problem");
    renameSync(moved, join(folder, "photos"));
    expect(numberOf((await next)!)).toBe(0);
    expect(source.problem).toBeNull();
  });
});

describe("a picture", () => {
  it("of too many pixels is refused by its header", async () => {
    // 60000 x 60000, one bit a pixel: a bomb of some kilobytes.
    const { default: sharp } = await import("sharp");
    const small = await sharp({ create: { width: 8, height: 8, channels: 3, background: "red" } })
      .png()
      .toBuffer();
    const bomb = Buffer.from(small);
    bomb.writeUInt32BE(60000, 16);
    bomb.writeUInt32BE(60000, 20);
    const { crc32 } = await import("node:zlib");
    bomb.writeUInt32BE(crc32(bomb.subarray(12, 29)), 29);
    await expect(readPicture(bomb)).rejects.toThrow(/pixel/);
  });

  it("that lies on its side stands upright, and transparency is grey", async () => {
    const { default: sharp } = await import("sharp");
    const side = await sharp({ create: { width: 8, height: 4, channels: 3, background: "red" } })
      .withMetadata({ orientation: 6 })
      .jpeg()
      .toBuffer();
    expect(await readPicture(side)).toMatchObject({ width: 4, height: 8, format: "rgb" });
    const clear = await sharp({ create: { width: 2, height: 1, channels: 4, background: "#00000000" } })
      .png()
      .toBuffer();
    expect([...((await readPicture(clear)).data as Uint8Array)]).toEqual(Array(6).fill(0x72));
  });

  it("above 25 million pixels is read at half of its size, upright", async () => {
    const { default: sharp } = await import("sharp");
    const [width, height] = [6251, 4001];
    const large = sharp({ create: { width, height, channels: 3, background: "red" } }).composite([
      { input: { create: { width: 600, height: height, channels: 3, background: "blue" } }, left: 0, top: 0 },
    ]);
    const bytes = await large.withMetadata({ orientation: 6 }).jpeg().toBuffer();
    const picture = await readPicture(bytes);
    expect([picture.width, picture.height]).toEqual([2001, 3126]);
    // Its left side is on top now.
    const redAt = (y: number): number => (picture.data as Uint8Array)[(y * 2001 + 1000) * 3]!;
    expect([redAt(290) < 10, redAt(310) > 245]).toEqual([true, true]);
  });

  it("of one channel has three", async () => {
    const { default: sharp } = await import("sharp");
    const grey = await sharp(Buffer.from([1, 2, 3, 4]), { raw: { width: 2, height: 2, channels: 1 } })
      .png()
      .toBuffer();
    expect([...((await readPicture(grey)).data as Uint8Array)]).toEqual([1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4]);
  });
});

describe("frames on a pipe", () => {
  const stream = Buffer.concat([
    Buffer.from("P6\n2 1\n255\n"),
    Buffer.from([1, 2, 3, 4, 5, 6]),
    Buffer.from("P6\n1 2\n255\n"),
    Buffer.from([80, 54, 10, 10, 11, 12]),
    Buffer.from("P6\n1 1\n255\n"),
    Buffer.from([7, 8, 9]),
  ]);

  it("are the same wherever the stream is cut", () => {
    for (let size = 1; size <= stream.length; size++) {
      const frames: unknown[] = [];
      const reader = new PpmReader(100, ({ data, width, height }) => frames.push([...data, width, height]));
      for (let at = 0; at < stream.length; at += size) reader.push(stream.subarray(at, at + size));
      expect(frames, `pieces of ${size}`).toEqual([
        [1, 2, 3, 4, 5, 6, 2, 1],
        [80, 54, 10, 10, 11, 12, 1, 2],
        [7, 8, 9, 1, 1],
      ]);
    }
  });

  it("that are none, or too large, are refused", () => {
    const reader = (): PpmReader => new PpmReader(100, () => undefined);
    expect(() => reader().push(Buffer.from("P5\n1 1\n255\n..............................."))).toThrow(/no PPM/);
    expect(() => reader().push(Buffer.from("P6\n11 10\n255\n"))).toThrow(/11 x 10/);
    expect(() => reader().push(Buffer.from("P6\n0 10\n255\n"))).toThrow(/0 x 10/);
  });
});

/** Makes a video whose frame n has the grey value 16 n, without loss. */
function makeVideo(folder: string, count: number): string {
  const path = join(folder, "video.mkv");
  const frames = Buffer.concat(
    Array.from({ length: count }, (_, n) =>
      Buffer.concat([Buffer.from("P6\n16 8\n255\n"), Buffer.alloc(16 * 8 * 3, n * 16)]),
    ),
  );
  execFileSync(
    "ffmpeg",
    [
      ...["-loglevel", "error", "-f", "image2pipe", "-c:v", "ppm", "-framerate", "10", "-i", "pipe:0"],
      ...["-c:v", "ffv1", "-pix_fmt", "gbrp", path],
    ],
    { input: frames },
  );
  utimesSync(path, 1000, 1000);
  return path;
}

describe.skipIf(!hasFfmpeg)("a video file", () => {
  const open = (folder: string, path: string, fps: number | null = null): VideoSource => {
    const source = new VideoSource(
      { kind: "video", camera: "v", path, fps, hwaccel: null },
      join(folder, "state"),
      LOG,
    );
    onTestFinished(() => source.close().catch(() => undefined));
    return source;
  };

  it("gives each frame once, in order, with its time in the video", async () => {
    const folder = temporaryFolder();
    const frames = await readAll(open(folder, makeVideo(folder, 12)));
    expect(frames.map(numberOf)).toEqual(Array.from({ length: 12 }, (_, n) => n * 16));
    expect(frames.map(({ time }) => time.getTime())).toEqual(Array.from({ length: 12 }, (_, n) => 1e6 + n * 100));
    expect(frames[0]!.image).toMatchObject({ width: 16, height: 8, format: "rgb" });
  });

  it("goes on after a restart with the frame after the last one that was done, with the same ids", async () => {
    const folder = temporaryFolder();
    const path = makeVideo(folder, 12);
    const first = open(folder, path);
    const frames: SourceFrame[] = [];
    for (let n = 0; n < 5; n++) frames.push((await first.next(NEVER))!);
    for (const frame of frames.slice(0, 4)) frame.done();
    await first.close();
    const rest = await readAll(open(folder, path));
    expect(rest.map(numberOf)).toEqual(Array.from({ length: 8 }, (_, n) => (n + 4) * 16));
    expect(rest[0]!.id).toBe(frames[4]!.id);
  });

  it("that is none ends with a problem", async () => {
    const folder = temporaryFolder();
    const path = join(folder, "video.mkv");
    writeFileSync(path, "nonsense");
    const source = open(folder, path);
    expect(await readAll(source)).toEqual([]);
    expect(source.problem).toMatch(/Invalid data/);
  });

  it("cannot make ffmpeg open an address", async () => {
    const folder = temporaryFolder();
    const path = join(folder, "list.m3u8");
    writeFileSync(path, "#EXTM3U\n#EXTINF:1,\nhttp://127.0.0.1:9/x.ts\n#EXT-X-ENDLIST\n");
    const source = open(folder, path);
    expect(await readAll(source)).toEqual([]);
    expect(source.problem).toMatch(/whitelist|Invalid/);
  });
});

describe("a camera", () => {
  const FRAME = "printf 'P6\\n1 1\\n255\\nabc'";
  const open = (script: string, more: object = {}): LiveSource => {
    const options = { camera: "c", command: "sh", args: ["-c", script], firstWait: 20, ...more };
    const source = new LiveSource(options, LOG);
    onTestFinished(() => source.close());
    return source;
  };

  it("drops the oldest frame if nobody takes it, and counts it", async () => {
    const source = open(`for i in 1 2 3 4 5 6 7 8 9; do ${FRAME}; done; sleep 60`);
    await until(() => source.stats.dropped === 7, "drops");
    expect((await source.next(NEVER))!.id).toMatch(/-0000000007$/);
    expect((await source.next(NEVER))!.id).toMatch(/-0000000008$/);
    expect(source.problem).toBeNull();
  });

  it("is started anew when it ends, says why, and never uses an id twice", async () => {
    const source = open(`${FRAME}; echo "Connection refused rtsp://user:secret@cam/1" >&2; exit 1`);
    const ids: string[] = [];
    for (let n = 0; n < 3; n++) ids.push((await source.next(NEVER))!.id);
    expect(new Set(ids).size).toBe(3);
    await until(() => source.stats.restarts >= 3 && source.problem !== null, "restarts");
    expect(source.problem).toContain("Connection refused rtsp://***@cam/1");
  });

  it("is started anew when no frame comes", async () => {
    // Long enough for a shell to start on a busy machine.
    const source = open(`${FRAME}; sleep 60`, { stall: 2000 });
    for (let n = 0; n < 2; n++) expect(await source.next(NEVER)).not.toBeNull();
    expect(source.stats.restarts).toBeGreaterThan(0);
  });

  it("whose program is missing says so", async () => {
    const source = open("", { command: "no-such-program" });
    await until(() => source.problem?.includes("no-such-program") ?? false, "the problem");
  });

  it("leaves no process behind", async () => {
    const folder = temporaryFolder();
    const source = open(`echo $$ > ${folder}/pid; ${FRAME}; sleep 61 & wait`);
    await source.next(NEVER);
    const pid = execFileSync("cat", [join(folder, "pid")])
      .toString()
      .trim();
    await source.close();
    // A process that has ended is listed with a Z until its parent asks for its exit code.
    const isAlive = (line: string): boolean => new RegExp(`^ *${pid} +[^Z ]`).test(line);
    const list = (): string[] => execFileSync("ps", ["-eo", "pgid,stat"]).toString().split("\n");
    await until(() => !list().some(isAlive), "the end of the group");
  });

  it("gives ffmpeg a list of arguments", () => {
    const camera = { kind: "rtsp", camera: "c", url: "RTSP://user:it's@cam/1;rm", fps: 5, hwaccel: null } as const;
    expect(argumentsFor(camera).join(" ")).not.toContain("it's");
    expect(playlistFor(camera)).toContain(String.raw`file 'rtsp://user:it'\''s@cam/1;rm'`);
    expect(playlistFor(camera)).toContain("option rtsp_transport tcp");
    const decoded = argumentsFor({ ...camera, hwaccel: "vaapi" });
    expect(decoded.slice(decoded.indexOf("-hwaccel"), decoded.indexOf("-f"))).toEqual(["-hwaccel", "vaapi"]);
    const v4l2 = argumentsFor({
      kind: "v4l2",
      camera: "c",
      path: "/dev/video0",
      size: [640, 480],
      fps: null,
      hwaccel: null,
    });
    expect(v4l2.join(" ")).toContain("-f v4l2 -video_size 640x480 -i /dev/video0");
  });

  it.skipIf(!hasFfmpeg)("over ffmpeg itself: a file in real time stands for a camera", async () => {
    const folder = temporaryFolder();
    const path = makeVideo(folder, 12);
    copyFileSync(path, join(folder, "camera.mkv"));
    const args = argumentsFor({
      kind: "video",
      camera: "c",
      path: join(folder, "camera.mkv"),
      fps: null,
      hwaccel: null,
    });
    const source = new LiveSource({ camera: "c", args: ["-re", ...args], firstWait: 20 }, LOG);
    onTestFinished(() => source.close());
    // A slow machine skips frames, and may find the file at its end and begun anew. Ids count all of them.
    for (let n = 0; n < 5; n++) {
      const frame = (await source.next(NEVER))!;
      expect(numberOf(frame)).toBe((Number(frame.id.split("-")[1]) % 12) * 16);
    }
  });
});

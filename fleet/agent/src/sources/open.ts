/** Opens the source of the settings. */
import type { Logger } from "pino";
import type { SourceSettings } from "../settings/sources.ts";
import { argumentsFor, playlistFor } from "./ffmpeg.ts";
import { FolderSource } from "./folder.ts";
import { LiveSource } from "./live.ts";
import type { Source } from "./source.ts";
import { VideoSource } from "./video.ts";

/** A source. Call `finish` of a recorded source once every packet is delivered. */
export type OpenSource = Source & { finish?(): void };

/** @param state folder in which recorded sources store their progress */
export function openSource(settings: SourceSettings, state: string, log: Logger): OpenSource {
  const { camera } = settings;
  switch (settings.kind) {
    case "folder":
      return new FolderSource({ camera, path: settings.path, isWatched: settings.watch }, state, log);
    case "image":
      return new FolderSource({ camera, path: settings.path, isWatched: false }, state, log);
    case "video":
      return new VideoSource(settings, state, log);
    case "rtsp":
    case "v4l2":
      return new LiveSource({ camera, args: argumentsFor(settings), input: playlistFor(settings) }, log);
  }
}

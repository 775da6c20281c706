/** Writes notes to the console if the caller passes no `onNote`, except in production. */

/** Globals that this file uses. Any of them may be missing. */
interface Surroundings {
  readonly process?: {
    readonly versions?: { readonly node?: string };
    readonly env?: { readonly NODE_ENV?: string };
  };
  readonly location?: { readonly hostname?: string };
  readonly document?: unknown;
  readonly navigator?: { readonly userAgent?: string };
  readonly console?: { readonly warn?: (text: string) => void };
}

declare const process: { readonly env: { readonly NODE_ENV?: string } };

const LOCAL = /^(localhost|127(\.\d+){3}|\[?::1\]?|.*\.localhost)$/;

/** Returns NODE_ENV. Bundlers replace `process.env.NODE_ENV` by its value, also in pages, which have no `process`. */
function nodeEnv(): string | undefined {
  try {
    return process.env.NODE_ENV;
  } catch {
    return undefined;
  }
}

/** True in Node unless NODE_ENV is "production". True in pages from this machine or from a development build. */
export function isDevelopment(around: Surroundings = globalThis as Surroundings, env = nodeEnv()): boolean {
  const { hostname } = around.location ?? {};
  if (hostname !== undefined) return LOCAL.test(hostname) || env === "development";
  // Edge workers have a process like Node's, but run in production.
  const isEdge = /cloudflare/i.test(around.navigator?.userAgent ?? "");
  return env !== "production" && !isEdge && around.process?.versions?.node !== undefined;
}

const shown = new Set<string>();

/** Writes a note to the console if it is the first of its kind. Notes of one kind differ only in numbers or names. */
function warnOnce(note: string): void {
  const kind = note.replace(/"[^"]*"|\[[^\]]*\]|[\d.]+/g, "");
  if (shown.has(kind)) return;
  shown.add(kind);
  (globalThis as Surroundings).console?.warn?.(
    `boxwright: ${note}\n  Shown once, and not in production. onNote: () => {} silences notes, onNote: console.warn shows all.`,
  );
}

/** Receives notes if the caller passes no `onNote`. Reads the environment only when a note comes. */
export const warnInDevelopment = (note: string): void => {
  if (isDevelopment()) warnOnce(note);
};

/** Opens `main.mjs` of the folder in a page and waits for the result that it leaves behind. */
export declare function openPage<Result>(options: {
  playwright: unknown;
  folder: string;
  app: string;
  csp?: string;
  headers?: Record<string, string>;
  flags?: string[];
  extra: Record<string, string>;
}): Promise<Result & { browser: string }>;

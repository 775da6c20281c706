import type { Migration } from "../../src/migrate.ts";

export declare const FRAMES: number;
export declare const STEPS: readonly Migration[];

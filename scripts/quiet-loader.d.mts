import type { Plugin } from "rolldown";
export function quietLoader(): Plugin;

export const MANIFESTS: readonly string[];
export const LOCKFILES: readonly string[];
export function next(version: string, step: string): string;
export function notes(changelog: string, title: string): string | null;
export function release(changelog: string, version: string, date: string): string;
export function statedVersions(file: string, json: object): [place: string, version: string][];
export function withVersion(text: string, version: string): string;
export function disagreements(
  tag: string,
  changelog: string,
  files: Readonly<Record<string, string>>,
): string[];

export function next(version: string, step: string): string;
export function notes(changelog: string, title: string): string | null;
export function release(changelog: string, version: string, date: string): string;
export function disagreements(
  tag: string,
  files: { readonly changelog: string; readonly version: string; readonly locked: string },
): string[];

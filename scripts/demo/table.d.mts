interface Shot {
  readonly same: boolean;
  readonly by: string;
  readonly problems: readonly string[];
}
export function verdict(shot: Shot): string;
export function isGood(shot: Shot): boolean;

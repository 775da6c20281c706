export function conformanceCases(): {
  readonly version: number;
  readonly about: string;
  readonly cases: readonly object[];
};

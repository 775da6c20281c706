export function runEngines<Answer>(
  rounds: number,
  open: (engine: string) => {
    readonly engine: string;
    readonly run: () => unknown;
    readonly answer: () => Answer;
    readonly end?: () => unknown;
  },
): Promise<{
  runs: { engine: string; answer: Answer; us: number }[];
  answer: Answer;
  same: boolean;
}>;

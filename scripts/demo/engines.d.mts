export function runEngines<Answer>(
  rounds: number,
  open: (engine: string) => {
    readonly engine: string;
    readonly run: () => unknown;
    readonly answer: () => Answer;
  },
): Promise<{
  runs: { engine: string; answer: Answer; us: number }[];
  answer: Answer;
  same: boolean;
}>;

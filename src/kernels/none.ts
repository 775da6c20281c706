/** A kernel in `boxwright/ts` and `boxwright/wasm`, which carry none: `provideKernel` brings it. */
export const binaryOf = (): null => null;

/** Stands for the kernels in `boxwright/ts` and `boxwright/wasm`, which contain none. `provideKernel` adds them. */
const none = (): null => null;

export { none as decode, none as masks, none as prepare };

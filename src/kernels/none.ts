/** Replaces the kernels in `boxwright/ts` and `boxwright/wasm`, which contain none. `provideKernel` can add kernels. */
const none = (): null => null;

export { none as decode, none as masks, none as prepare };

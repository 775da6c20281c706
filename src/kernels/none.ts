/** The kernels in `boxwright/ts` and `boxwright/wasm`, which carry none: `provideKernel` brings them. */
const none = (): null => null;

export { none as decode, none as masks, none as prepare };

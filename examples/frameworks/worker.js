// A detector for the hook, the composable and the store: it finds in the worker of examples/web-worker what is in a
// video, so that the page stays fluent. Copy detector.js of that folder too.
//
//   npm install boxwright onnxruntime-web
//
//   const worker = new Worker(new URL("detector.js", import.meta.url), { type: "module", name: location.href });
//   const detector = await openInWorker(worker);

/** Waits for the next message of the worker. */
const answerOf = (worker) =>
  new Promise((resolve, reject) => {
    const take = ({ data, message }) => {
      for (const kind of ["message", "error"]) worker.removeEventListener(kind, take);
      if (data && !data.error) resolve(data);
      else reject(new Error(data?.error ?? message));
    };
    for (const kind of ["message", "error"]) worker.addEventListener(kind, take);
  });

export async function openInWorker(worker) {
  await answerOf(worker); // it is ready
  // One picture at a time, also if an old loop still waits for its last one.
  let last = Promise.resolve();
  const ask = (picture) => {
    const answer = last.then(() => {
      worker.postMessage(picture, [picture]);
      return answerOf(worker);
    });
    last = answer.catch(() => {});
    return answer;
  };
  return {
    /** Yields what is in the frames of a playing video, until the signal aborts. */
    async *detectAll(video, { signal } = {}) {
      while (!signal?.aborted && !video.ended) {
        await new Promise((resolve) => video.requestVideoFrameCallback(resolve));
        if (signal?.aborted) return;
        const { detections } = await ask(await createImageBitmap(video));
        yield detections;
      }
    },
    close: () => worker.terminate(),
  };
}

// A composable of Vue 3: what a detector finds in a video, as a ref.
//
//   npm install boxwright onnxruntime-web vue
//
//   const video = useTemplateRef("video"); // <video ref="video" src="street.mp4" autoplay muted />
//   const found = useDetector(detector, video); // found.value.detections, found.value.error
//
// `detector` is a ref too: what createDetector gave, or null until it is there. Without a video nothing runs.
import { shallowRef, watch } from "vue";

const NOTHING = { detections: [], error: null };

export function useDetector(detector, video) {
  // Shallow: Vue would make a proxy of every box.
  const found = shallowRef(NOTHING);
  const follow = async (signal) => {
    // Frames that come while the network runs are left out.
    for await (const detections of detector.value.detectAll(video.value, { signal }))
      if (!signal.aborted) found.value = { detections, error: null };
  };
  watch(
    [detector, video],
    (now, before, onCleanup) => {
      if (!detector.value || !video.value) return;
      const end = new AbortController();
      follow(end.signal).catch((error) => {
        if (!end.signal.aborted) found.value = { detections: [], error };
      });
      onCleanup(() => {
        end.abort();
        found.value = NOTHING;
      });
    },
    { immediate: true },
  );
  return found;
}

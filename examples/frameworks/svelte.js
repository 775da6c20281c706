// A store for Svelte 5: what a detector finds in a video.
//
//   npm install boxwright onnxruntime-web svelte
//
//   <script>
//     let video = $state();
//     const found = $derived(detectorStore(detector, video)); // $found.detections, $found.error
//   </script>
//   <video bind:this={video} src="street.mp4" autoplay muted></video>
//
// `detector` is what createDetector gave, or null until it is there. Without a video nothing runs.
import { readable } from "svelte/store";

const NOTHING = { detections: [], error: null };

export function detectorStore(detector, video) {
  return readable(NOTHING, (set) => {
    if (!detector || !video) return undefined;
    const end = new AbortController();
    const follow = async () => {
      // Frames that come while the network runs are left out.
      for await (const detections of detector.detectAll(video, { signal: end.signal }))
        if (!end.signal.aborted) set({ detections, error: null });
    };
    follow().catch((error) => end.signal.aborted || set({ detections: [], error }));
    return () => end.abort();
  });
}

// A hook of React 18 and 19: what a detector finds in a video, as state.
//
//   npm install boxwright onnxruntime-web react
//
//   const [video, setVideo] = useState(null);
//   const { detections, error } = useDetector(detector, video);
//   return <video ref={setVideo} src="street.mp4" autoPlay muted />;
//
// A camera: video.srcObject = await navigator.mediaDevices.getUserMedia({ video: true }), in an effect that stops the
// stream's tracks at its end. A network in a worker: ort.env.wasm.proxy = true, or the detector of worker.js, beside
// this file, whose preparation and decoding are in the worker too.
//
// `detector` is what createDetector gave, or null until it is there. Without a video nothing runs.
import { useEffect, useState } from "react";

const NOTHING = { detections: [], error: null };

export function useDetector(detector, video) {
  const [found, setFound] = useState(NOTHING);
  useEffect(() => {
    if (!detector || !video) return undefined;
    const end = new AbortController();
    const follow = async () => {
      // Frames that come while the network runs are left out.
      for await (const detections of detector.detectAll(video, { signal: end.signal }))
        if (!end.signal.aborted) setFound({ detections, error: null });
    };
    follow().catch((error) => end.signal.aborted || setFound({ detections: [], error }));
    return () => {
      end.abort();
      setFound(NOTHING);
    };
  }, [detector, video]);
  return found;
}

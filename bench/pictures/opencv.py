"""Times a letterbox with OpenCV on one thread. Arguments: width, height, side of the input, milliseconds.

With the file of a YOLOv8 tensor, its thresholds and the count of detections it decodes too, by NumPy and
cv2.dnn.NMSBoxes. Prints JSON: microseconds per call, and the digest of the tensor or the boxes in pixels of the
picture. Arrays are kept where OpenCV lets a caller give them.
"""
import hashlib
import json
import sys
import time

import cv2
import numpy as np

width, height, side, milliseconds = map(int, sys.argv[1:5])
decodes = len(sys.argv) > 5
cv2.setNumThreads(1)

# The same bytes as bench/pictures/picture.ts.
i = np.arange(width * height * 4, dtype=np.uint32)
image = ((i * np.uint32(2654435761)) >> np.uint32(24)).astype(np.uint8).reshape(height, width, 4)

scale = min(side / width, side / height)
w, h = round(width * scale), round(height * scale)
left, top = (side - w) // 2, (side - h) // 2
bgr = np.empty((height, width, 3), np.uint8)
small = np.empty((h, w, 3), np.uint8)
square = np.empty((side, side, 3), np.uint8)


def letterbox():
    cv2.cvtColor(image, cv2.COLOR_RGBA2BGR, dst=bgr)
    cv2.resize(bgr, (w, h), dst=small)
    right, bottom = side - w - left, side - h - top
    cv2.copyMakeBorder(small, top, bottom, left, right, cv2.BORDER_CONSTANT, dst=square, value=(114, 114, 114))
    return cv2.dnn.blobFromImage(square, 1 / 255, swapRB=True)


if decodes:
    output = np.fromfile(sys.argv[5], np.float32).reshape(84, -1)
    threshold, iou = float(sys.argv[6]), float(sys.argv[7])
    limit = int(sys.argv[8])


def decode():
    scores = output[4:].max(axis=0)
    cells = np.nonzero(scores > threshold)[0]
    scores = scores[cells]
    class_ids = output[4:, cells].argmax(axis=0)
    cx, cy, w, h = output[:4, cells].astype(np.float64)
    boxes = np.stack([cx - w / 2, cy - h / 2, w, h], axis=1)
    # OpenCV 4.6 has no NMSBoxesBatched: an offset for each class keeps classes apart.
    apart = boxes + np.outer(class_ids * 4096.0, [1, 1, 0, 0])
    kept = cv2.dnn.NMSBoxes(apart, scores, threshold, iou)[:limit]
    x, y = (boxes[kept, 0] - left) / scale, (boxes[kept, 1] - top) / scale
    x2, y2 = x + boxes[kept, 2] / scale, y + boxes[kept, 3] / scale
    corners = [x.clip(0, width), y.clip(0, height), x2.clip(0, width), y2.clip(0, height)]
    return np.stack([class_ids[kept], scores[kept], *corners], axis=1)


def run():
    blob = letterbox()
    return decode() if decodes else blob


times = []
warm = time.perf_counter() + milliseconds / 2000
while time.perf_counter() < warm:
    run()
end = time.perf_counter() + milliseconds / 1000
while time.perf_counter() < end:
    start = time.perf_counter()
    result = run()
    times.append((time.perf_counter() - start) * 1e6)
times.sort()
answer = {"boxes": result.tolist()} if decodes else {"digest": hashlib.sha256(result.tobytes()).hexdigest()[:16]}
print(
    json.dumps(
        {
            "timing": {
                "median": times[len(times) // 2],
                "min": times[0],
                "p90": times[len(times) * 9 // 10],
                "runs": len(times),
            },
            "version": cv2.__version__,
            **answer,
        }
    )
)

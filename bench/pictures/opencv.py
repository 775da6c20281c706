"""Times a letterbox with OpenCV on one thread. Arguments: width, height, side of the input, milliseconds.

Prints JSON: microseconds per call and the digest of the tensor. Arrays are kept where OpenCV lets a caller give them.
"""
import hashlib
import json
import sys
import time

import cv2
import numpy as np

width, height, side, milliseconds = map(int, sys.argv[1:])
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


times = []
end = time.perf_counter() + milliseconds / 1000
warm = time.perf_counter() + milliseconds / 2000
while time.perf_counter() < warm:
    letterbox()
end = time.perf_counter() + milliseconds / 1000
while time.perf_counter() < end:
    start = time.perf_counter()
    blob = letterbox()
    times.append((time.perf_counter() - start) * 1e6)
times.sort()
print(
    json.dumps(
        {
            "timing": {
                "median": times[len(times) // 2],
                "min": times[0],
                "p90": times[len(times) * 9 // 10],
                "runs": len(times),
            },
            "digest": hashlib.sha256(blob.tobytes()).hexdigest()[:16],
            "version": cv2.__version__,
        }
    )
)

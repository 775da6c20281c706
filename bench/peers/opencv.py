"""Times OpenCV on one thread, for bench/networks.ts: `python3 opencv.py masks|text MILLISECONDS < floats`.

- masks: maps [N,h,w] of logits to the size of a photo, above 0. Arguments: N h w WIDTH HEIGHT
- text: PaddleOCR's steps on a map of probabilities. Arguments: WIDTH HEIGHT. A rectangle is grown as a rectangle, which
  is what pyclipper's round corners and a second minAreaRect give for one.
Prints JSON: median, min and p90 in microseconds, and a few numbers of the answer.
"""
import json
import sys
import time

import cv2
import numpy as np

cv2.setNumThreads(1)


def masks(values, n, h, w, width, height):
    maps = values.reshape(n, h, w)
    return [cv2.resize(m, (width, height), interpolation=cv2.INTER_LINEAR) > 0 for m in maps]


def text(values, width, height):
    probabilities = values.reshape(height, width)
    bitmap = (probabilities > 0.3).astype(np.uint8)
    contours, _ = cv2.findContours(bitmap * 255, cv2.RETR_LIST, cv2.CHAIN_APPROX_SIMPLE)
    found = []
    for contour in contours[:1000]:
        rectangle = cv2.minAreaRect(contour)
        if min(rectangle[1]) < 3:
            continue
        box = cv2.boxPoints(rectangle)
        left, top = np.clip(np.floor(box.min(0)).astype(int), 0, [width - 1, height - 1])
        right, bottom = np.clip(np.ceil(box.max(0)).astype(int), 0, [width - 1, height - 1])
        inside = np.zeros((bottom - top + 1, right - left + 1), np.uint8)
        cv2.fillPoly(inside, [(box - [left, top]).astype(np.int32)], 1)
        score = cv2.mean(probabilities[top : bottom + 1, left : right + 1], inside)[0]
        if score < 0.6:
            continue
        (x, y), (a, b), angle = rectangle
        grow = a * b * 1.5 / (2 * (a + b))
        if min(a, b) + 2 * grow < 5:
            continue
        found.append(np.append(cv2.boxPoints(((x, y), (a + 2 * grow, b + 2 * grow), angle)).ravel(), score))
    return found


def main():
    task, milliseconds, *sizes = sys.argv[1:]
    values = np.frombuffer(sys.stdin.buffer.read(), np.float32)
    run = {"masks": masks, "text": text}[task]
    arguments = [int(size) for size in sizes]
    times = []
    end = time.perf_counter() + float(milliseconds) / 1000
    answer = run(values, *arguments)
    while time.perf_counter() < end or len(times) < 20:
        start = time.perf_counter()
        run(values, *arguments)
        times.append((time.perf_counter() - start) * 1e6)
    times.sort()
    shown = [float(m.sum()) for m in answer] if task == "masks" else [len(answer)]
    p90 = times[int(len(times) * 0.9)]
    print(json.dumps({"median": times[len(times) // 2], "min": times[0], "p90": p90, "answer": shown}))


main()

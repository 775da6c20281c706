"""Reads exports and a raw packet with other projects' own code: pycocotools, supervision, Triton's HTTP client.

    python3 scripts/packet-readers.py FOLDER > test/fixtures/packet/readers.json

test/packet/readers.test.ts fills FOLDER, if BOXWRIGHT_PACKET_SAMPLES names it. The test compares what is kept.
Wanted: pip install pycocotools supervision tritonclient[http].
"""

import contextlib
import io
import json
import sys
from pathlib import Path

import numpy as np
import supervision as sv
from pycocotools.coco import COCO
from tritonclient.http import InferResult

folder = Path(sys.argv[1])
samples = json.loads((folder / "samples.json").read_text())
read = {}

with contextlib.redirect_stdout(io.StringIO()):
    truth = COCO()
    truth.dataset = samples["truth"]
    truth.createIndex()
    results = truth.loadRes(samples["coco"])
read["coco"] = [
    {key: a[key] for key in ("image_id", "category_id", "bbox", "area", "score")} for a in results.loadAnns(results.getAnnIds())
]

roboflow = sv.Detections.from_inference(samples["roboflow"])
columns = samples["supervision"]
own = sv.Detections(
    xyxy=np.array(columns["xyxy"], dtype=np.float64).reshape(-1, 4),
    confidence=np.array(columns["confidence"]),
    class_id=np.array(columns["class_id"]),
    data={"class_name": np.array(columns["data"]["class_name"])},
)
for name, detections in (("roboflow", roboflow), ("supervision", own)):
    read[name] = {
        "xyxy": detections.xyxy.tolist(),
        "confidence": detections.confidence.tolist(),
        "class_id": detections.class_id.tolist(),
        "class_name": detections.data["class_name"].tolist(),
    }

headers = samples["headers"]
answer = InferResult.from_response_body(
    (folder / "raw.bin").read_bytes(), header_length=int(headers["inference-header-content-length"])
)
read["triton"] = {
    output["name"]: {"shape": list(answer.as_numpy(output["name"]).shape), "values": answer.as_numpy(output["name"]).ravel().tolist()}
    for output in answer.get_response()["outputs"]
}
print(json.dumps({"versions": {"supervision": sv.__version__}, "read": read}, indent=1))

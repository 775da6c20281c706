"""Speaks to a detector as Frigate's plug-in "zmq" does: a REQ socket, JSON, numpy arrays. Written from its protocol.

Arguments: endpoint, path of the model, then shape and dtype and path of each picture, as "1,24,32,3 uint8 FILE".
Prints JSON: whether the model was loaded before and after it was sent, and the rows of each answer.
"""
import json
import sys

import numpy as np
import zmq

endpoint, model, *pictures = sys.argv[1:]
socket = zmq.Context().socket(zmq.REQ)
socket.setsockopt(zmq.RCVTIMEO, 30000)
socket.setsockopt(zmq.LINGER, 0)
socket.connect(endpoint)


def ask(header, *parts):
    socket.send_multipart([json.dumps(header).encode("utf-8"), *parts])
    return socket.recv_multipart()


def ask_json(header, *parts):
    (answer,) = ask(header, *parts)
    return json.loads(answer.decode("utf-8"))


name = "network.onnx"
before = ask_json({"model_request": True, "model_name": name})
sent = None
if not before["model_available"]:
    with open(model, "rb") as file:
        sent = ask_json({"model_data": True, "model_name": name}, file.read())
after = ask_json({"model_request": True, "model_name": name})

answers = []
for picture in pictures:
    shape, dtype, path = picture.split(" ")
    with open(path, "rb") as file:
        tensor = np.frombuffer(file.read(), np.dtype(dtype)).reshape([int(size) for size in shape.split(",")])
    header = {"shape": list(tensor.shape), "dtype": str(tensor.dtype.name), "model_type": "yologeneric"}
    frames = ask(header, memoryview(tensor.tobytes(order="C")))
    assert len(frames) == 1 and len(frames[0]) == 20 * 6 * 4, [len(frame) for frame in frames]
    rows = np.frombuffer(frames[0], dtype=np.float32).reshape((20, 6))
    answers.append(rows.astype(float).tolist())
print(json.dumps({"before": before, "sent": sent, "after": after, "answers": answers}))

/** The code of a pool's thread: makes a decoder for each network, and decodes frames in the order of messages. */
import { columnsBy } from "../decode/columns.ts";
import type { MessagePort } from "node:worker_threads";
import type { Decoder } from "../decode/decoder.ts";
import { Detections, taskFunctionsOf, setLength, TASK_COLUMNS } from "../decode/detections.ts";
import { fromPacket } from "../packet/read.ts";
import { createDecoderSync } from "../whole/decoder.ts";
import {
  type ReplyColumns,
  type Reply,
  type Request,
  SERVING,
  type Work,
  arraysOf,
  faultOf,
  transferable,
} from "./protocol.ts";

interface Network {
  readonly decoder: Decoder;
  /** Labels in the last answer for this network. They are sent again only if they change. */
  labels?: readonly string[] | null;
}

/** Answers the requests of a pool. */
export function serve(port: MessagePort): void {
  const networks: Network[] = [];
  port.postMessage(SERVING);
  port.on("message", (request: Request) => {
    if ("forget" in request) return void delete networks[request.forget];
    let answer: Answer;
    try {
      answer = "network" in request ? add(networks, request) : decode(networks, request);
    } catch (error) {
      answer = { reply: { id: request.id, fault: faultOf(error) }, arrays: [] };
    }
    port.postMessage(answer.reply, transferable(answer.arrays));
  });
  // End the thread if a request is unreadable: its frame is unknown, so the pool must refuse all frames of the thread.
  port.on("messageerror", (error) => {
    throw error;
  });
}

interface Answer {
  readonly reply: Reply;
  readonly arrays: readonly { readonly buffer: ArrayBufferLike }[];
}

function add(networks: Network[], { id, network, index }: Extract<Request, { network: unknown }>): Answer {
  const decoder = createDecoderSync(network.config as object, network.options);
  networks[index] = { decoder };
  return { reply: { id, hash: decoder.configHash }, arrays: [] };
}

function decode(
  networks: readonly Network[],
  { id, work, index }: Extract<Request, { work: unknown }>,
): Answer {
  const start = performance.now();
  const [network, detections] = run(networks, work, index);
  const { columns, arrays } = columnsOf(detections);
  const { labels } = detections;
  const milliseconds = performance.now() - start;
  const isKnown = network.labels === labels;
  network.labels = labels;
  return {
    reply: {
      id,
      columns: isKnown ? columns : { ...columns, labels },
      index: networks.indexOf(network),
      milliseconds,
      work,
    },
    arrays: [...arrays, ...arraysOf(work)],
  };
}

/** Copies the filled rows of each column. Also returns the copied arrays as a list, for transfer. */
function columnsOf(detections: Detections): {
  readonly columns: ReplyColumns;
  readonly arrays: Answer["arrays"];
} {
  const hasMasks = taskFunctionsOf(detections)?.mask !== undefined;
  const copy = (hasMasks ? boxesOf(detections) : detections).copy();
  const { boxes, scores, classIds, sources } = copy;
  const task = copy.keypoints || copy.angles ? columnsBy(copy, (column) => column) : null;
  return {
    columns: { boxes, scores, classIds, sources, ...(task && { task }), ...(hasMasks && { hasMasks }) },
    arrays: [
      ...[boxes, scores, classIds, sources],
      ...TASK_COLUMNS.flatMap((name) => (copy[name] ? [copy[name]] : [])),
    ],
  };
}

/** Returns detections without masks. A copy with masks would include all prototypes, some megabytes. */
function boxesOf({ boxes, scores, classIds, sources, labels, length }: Detections): Detections {
  const plain = new Detections(boxes, scores, classIds, sources, labels);
  setLength(plain, length);
  return plain;
}

/** Decodes a frame by the network whose config its packet names, else by network `index`. */
function run(networks: readonly Network[], work: Work, index: number): readonly [Network, Detections] {
  if (!("bytes" in work)) return [networks[index], networks[index].decoder.decode(work.tensors, work.frame)];
  const packet = fromPacket(work.bytes);
  // Use `filter`, since `find` would visit the holes that refused networks leave in the list.
  const [named] = networks.filter(
    ({ decoder }) => packet.config !== null && decoder.configHash === packet.config,
  );
  const network = named ?? networks[index];
  return [network, network.decoder.receive(packet)];
}

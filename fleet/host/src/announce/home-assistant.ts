/**
 * Publishes what cameras see to Home Assistant. MQTT discovery creates an occupancy sensor and a count for each label
 * of a camera. https://www.home-assistant.io/integrations/mqtt/#mqtt-discovery
 */
import { levelOf, shortHash } from "boxwright-service/level";
import { countLabels } from "../store/count-seen.ts";
import type { Detection } from "./detection.ts";

export interface Message {
  readonly topic: string;
  readonly payload: string;
  readonly retain: boolean;
}

export interface Place {
  readonly source: string;
  readonly subject: string;
}

/** Milliseconds for which a label counts as seen after a detection, so that a flickering box switches no lamp off. */
const HOLD_MS = 3000;
/** Milliseconds after which an unchanged state is sent again. */
const REPEAT_MS = 20_000;
/**
 * Seconds without a state after which Home Assistant shows a sensor as unavailable, because its camera sends no frames.
 */
const EXPIRE_SECONDS = 60;
/** Largest number of sensors of one host. A network can have thousands of labels. */
const MOST_SENSORS = 2000;

interface Sensor {
  /** Hash of camera and label, for ids and topics of discovery. */
  readonly id: string;
  readonly place: Place;
  /** Name of the camera in the last config that was sent. */
  name: string;
  readonly label: string;
  readonly topic: string;
  /** Frames within HOLD_MS that show the label: time, number of detections, and highest confidence. */
  seen: { readonly at: number; readonly count: number; readonly best: number }[];
  sentCount: number | null;
  sentAt: number;
}

const cameraOf = ({ source, subject }: Place): string => `${source}\n${subject}`;

export class HomeAssistant {
  readonly #prefix: string;
  readonly #discovery: string;
  readonly #deviceName: (source: string) => string | undefined;
  /** Sensors by camera and label. */
  readonly #sensors = new Map<string, Sensor>();
  /** Time of each camera's last frame, by `cameraOf`. */
  readonly #heard = new Map<string, number>();

  /**
   * @param prefix first levels of the topics of this host
   * @param discovery prefix of discovery topics in Home Assistant's settings
   * @param deviceName returns the name of the device that sends as a source, once the name is known
   */
  constructor(prefix: string, discovery: string, deviceName: (source: string) => string | undefined) {
    this.#prefix = prefix;
    this.#discovery = discovery;
    this.#deviceName = deviceName;
  }

  /** Returns the names of camera and device: cameras of several devices may have the same name, such as "photos". */
  #nameOf({ source, subject }: Place): string {
    const device = this.#deviceName(source) ?? source.replace(/^.*[/:](?=.)/, "");
    return subject === "" ? device : `${subject} (${device})`;
  }

  /** Topic that says whether this host runs: "online", or "offline" from the last will. */
  get statusTopic(): string {
    return `${this.#prefix}/status`;
  }

  /** Updates the sensors from a frame that was just captured. Returns the configs of new sensors. */
  take(place: Place, detections: readonly Detection[], now: number): Message[] {
    const camera = cameraOf(place);
    this.#heard.set(camera, now);
    const fresh: Message[] = [];
    for (const [label, { count, best }] of countLabels(detections)) {
      const key = `${camera}\n${label}`;
      let sensor = this.#sensors.get(key);
      if (!sensor) {
        if (this.#sensors.size >= MOST_SENSORS) continue;
        const topic = `${this.#prefix}/seen/${levelOf(place.source)}/${levelOf(place.subject)}/${levelOf(label)}`;
        const id = `${shortHash(camera)}_${shortHash(label)}`;
        sensor = { id, place, name: this.#nameOf(place), label, topic, seen: [], sentCount: null, sentAt: -Infinity };
        this.#sensors.set(key, sensor);
        fresh.push(...this.#configsOf(sensor));
      }
      sensor.seen.push({ at: now, count, best });
    }
    return fresh;
  }

  /** Returns the states that changed or must be repeated, and the configs of cameras whose device has a new name. */
  states(now: number): Message[] {
    const due: Message[] = [];
    for (const sensor of this.#sensors.values()) {
      const name = this.#nameOf(sensor.place);
      if (name !== sensor.name) due.push(...this.#configsOf(Object.assign(sensor, { name })));
      sensor.seen = sensor.seen.filter(({ at }) => now - at < HOLD_MS);
      const heard = this.#heard.get(cameraOf(sensor.place)) ?? -Infinity;
      // Send nothing for a camera without frames: Home Assistant then shows its sensors as unavailable.
      if (now - heard > REPEAT_MS && sensor.seen.length === 0) continue;
      const count = Math.max(0, ...sensor.seen.map((one) => one.count));
      if (count === sensor.sentCount && now - sensor.sentAt < REPEAT_MS) continue;
      const best = Math.max(0, ...sensor.seen.map((one) => one.best));
      sensor.sentCount = count;
      sensor.sentAt = now;
      due.push({ topic: sensor.topic, payload: JSON.stringify({ count, best }), retain: false });
    }
    return due;
  }

  /**
   * Returns the configs of all sensors, and forgets which states were sent. Call this after a reconnection, or when
   * Home Assistant has restarted.
   */
  configs(): Message[] {
    return [...this.#sensors.values()].flatMap((sensor) => {
      sensor.sentCount = null;
      return this.#configsOf(sensor);
    });
  }

  #configsOf({ id, place, name, label, topic }: Sensor): Message[] {
    const both = {
      availability_topic: this.statusTopic,
      state_topic: topic,
      expire_after: EXPIRE_SECONDS,
      device: {
        identifiers: [`boxwright_${shortHash(cameraOf(place))}`],
        name,
        manufacturer: "boxwright",
        model: place.source,
      },
      origin: { name: "boxwright-host" },
    };
    const config = (kind: string, part: "seen" | "count", given: object): Message => ({
      topic: `${this.#discovery}/${kind}/boxwright/${id}_${part}/config`,
      payload: JSON.stringify({ ...given, unique_id: `boxwright_${id}_${part}`, ...both }),
      retain: true,
    });
    return [
      config("binary_sensor", "seen", {
        name: label,
        device_class: "occupancy",
        value_template: "{{ 'ON' if value_json.count > 0 else 'OFF' }}",
        json_attributes_topic: topic,
      }),
      config("sensor", "count", {
        name: `${label} count`,
        state_class: "measurement",
        value_template: "{{ value_json.count }}",
      }),
    ];
  }
}

/**
 * Publishes over MQTT what cameras see now: ONVIF scene descriptions of every frame, and sensors for Home Assistant.
 * Nothing is sent later: frames that a broker misses are only in the database.
 */
import { randomBytes } from "node:crypto";
import { levelOf } from "boxwright-service/level";
import type { Logger } from "boxwright-service/log";
import { type MqttAddress, type MqttConnection, connectMqtt, readMqttAddress } from "boxwright-service/mqtt";
import type { Config } from "../core/config.ts";
import type { Metrics } from "../core/metrics.ts";
import { millisecondsOf } from "../core/time.ts";
import { stayConnected } from "../mqtt/reconnect.ts";
import type { StoredFrame } from "../store/frames.ts";
import { detectionsOf } from "./detection.ts";
import { HomeAssistant, type Message } from "./home-assistant.ts";
import { MODULE, sceneOf } from "./onvif.ts";

export interface AnnouncerOptions {
  readonly config: Pick<Config, "announceMqtt" | "announceTopic" | "announceAs" | "announceDiscovery">;
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly now: () => number;
  /** Returns the name of the device that sends as a source, once the name is known. */
  readonly deviceName: (source: string) => string | undefined;
}

/** Largest number of messages that wait for the connection. Further messages are dropped and counted. */
const MOST_WAITING = 256;
/** Milliseconds between two updates of Home Assistant's sensors. */
const STATES_MS = 1000;
/** Age of a frame, in milliseconds, above which the frame is not announced. */
const OLD_MS = 60_000;
/** Topic on which Home Assistant says that it has started. */
const BIRTH = "status";

export class Announcer {
  readonly #options: AnnouncerOptions;
  readonly #home: HomeAssistant | null;
  readonly #isOnvif: boolean;
  readonly #end = new AbortController();
  readonly #stopped = new Promise<string>((resolve) => {
    this.#end.signal.addEventListener("abort", () => resolve("stopped"));
  });
  readonly #timer: NodeJS.Timeout;
  readonly #loop: Promise<void>;
  #connection: MqttConnection | null = null;
  #waiting = 0;
  /** Why nothing can be published; null while messages are published. */
  problem: string | null = "not connected yet";

  constructor(options: AnnouncerOptions) {
    const { announceTopic, announceAs, announceDiscovery } = options.config;
    this.#options = options;
    this.#isOnvif = announceAs.includes("onvif");
    this.#home = announceAs.includes("home-assistant")
      ? new HomeAssistant(announceTopic, announceDiscovery, options.deviceName)
      : null;
    this.#timer = setInterval(() => this.#send(this.#home?.states(options.now()) ?? []), STATES_MS).unref();
    this.#loop = this.#run();
  }

  /** Publishes the content of frames that were just stored. */
  take(frames: readonly StoredFrame[]): void {
    const { config, now } = this.#options;
    for (const frame of frames) {
      const { source, subject, time } = frame;
      const detections = detectionsOf(frame);
      if (this.#isOnvif) {
        const topic = `${levelOf(source)}/onvif-mj/VideoAnalytics/${levelOf(subject || "camera")}/${MODULE}`;
        const payload = JSON.stringify(sceneOf(time, detections));
        this.#send([{ topic: `${config.announceTopic}/${topic}`, payload, retain: false }]);
      }
      if (Math.abs(now() - millisecondsOf(time)) < OLD_MS)
        this.#send(this.#home?.take({ source, subject }, detections, now()) ?? []);
    }
  }

  /** Publishes that this host stops, and disconnects. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#end.abort();
    await this.#loop;
  }

  #run(): Promise<void> {
    const { log, config } = this.#options;
    const address = readMqttAddress(config.announceMqtt!)!;
    const broker = `${address.host}:${address.port}`;
    const connect = (onOpen: () => void): Promise<string> =>
      this.#connect(address, () => {
        log.info({ broker, as: config.announceAs }, "telling over MQTT what is seen");
        onOpen();
      });
    return stayConnected(this.#end.signal, connect, (reason) => {
      if (reason !== this.problem) log.error({ broker, error: reason }, "cannot tell over MQTT, trying again");
      this.problem = reason;
    });
  }

  /** Connects, and publishes until the connection ends. Returns the reason for the end. */
  async #connect(address: MqttAddress, onOpen: () => void): Promise<string> {
    const { announceTopic, announceDiscovery } = this.#options.config;
    const status = this.#home?.statusTopic ?? `${announceTopic}/status`;
    const birth = `${announceDiscovery}/${BIRTH}`;
    const connection = await connectMqtt(address, {
      clientId: `boxwright-announce-${randomBytes(6).toString("hex")}`,
      will: { topic: status, payload: "offline" },
      onMessage: ({ topic, payload }, done) => {
        // Send all sensors again, since Home Assistant forgets their states when it restarts.
        if (topic === birth && String(payload) === "online") this.#send(this.#home?.configs() ?? []);
        done();
      },
    });
    try {
      if (this.#home) await connection.subscribe(birth);
      await connection.publish({ topic: status, payload: "online", qos: 1, retain: true });
      this.#connection = connection;
      this.problem = null;
      this.#send(this.#home?.configs() ?? []);
      onOpen();
      const reason = await Promise.race([connection.ended, this.#stopped]);
      // Publish "offline" here: the broker sends no last will after an orderly end.
      if (reason === "stopped") await connection.publish({ topic: status, payload: "offline", qos: 1, retain: true });
      return reason;
    } finally {
      this.#connection = null;
      await connection.close();
    }
  }

  #send(messages: readonly Message[]): void {
    const { announced } = this.#options.metrics;
    for (const { topic, payload, retain } of messages) {
      if (!this.#connection || this.#waiting >= MOST_WAITING) {
        announced.inc({ outcome: "dropped" });
        continue;
      }
      this.#waiting++;
      // Wait for acknowledgements of sensor configs only, since a sensor would be missing without its config. The next
      // frame replaces a lost scene.
      this.#connection
        .publish({ topic, payload, qos: retain ? 1 : 0, retain, contentType: "application/json" })
        .then(
          () => announced.inc({ outcome: "sent" }),
          () => announced.inc({ outcome: "dropped" }),
        )
        .finally(() => this.#waiting--);
    }
  }
}

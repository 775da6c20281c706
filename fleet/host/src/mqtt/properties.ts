/** Reads the CloudEvents attributes of a message of MQTT 5. */
import type { IPublishPacket } from "mqtt";

/** Returns a function that reads an attribute by its HTTP name, and escapes the value as in HTTP. */
export function headersOf({ properties }: IPublishPacket): (name: string) => string | undefined {
  return (name) => {
    const value = properties?.userProperties?.[name.replace(/^ce-/, "")];
    const text = Array.isArray(value) ? value[0] : value;
    return text?.replace(/[^!#$&-~]+/gu, encodeURIComponent);
  };
}

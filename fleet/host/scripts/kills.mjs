// Kills hosts, brokers and databases at random, and checks that no acknowledged packet is lost or stored twice.
//   npm run kills -- --minutes 10 --transport http,nats,mqtt --database sqlite,postgres [--seed 1]
import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";

const text = (value) => ({ type: "string", ...(value && { default: value }) });
const { values } = parseArgs({
  options: {
    minutes: text("1"),
    transport: text("http,nats,mqtt"),
    database: text("sqlite,postgres"),
    seed: text(),
  },
});
const expected = { transport: ["http", "nats", "mqtt"], database: ["sqlite", "postgres"] };
for (const [name, known] of Object.entries(expected))
  for (const one of values[name].split(","))
    if (!known.includes(one)) {
      console.error(`--${name}: got ${JSON.stringify(one)}, expected some of ${known.join(", ")} with commas between`);
      process.exit(2);
    }
if (!(Number(values.minutes) > 0)) {
  console.error(`--minutes: got ${JSON.stringify(values.minutes)}, expected a number above 0`);
  process.exit(2);
}
const env = {
  ...process.env,
  KILLS_MINUTES: values.minutes,
  KILLS_TRANSPORTS: values.transport,
  KILLS_DATABASES: values.database,
  ...(values.seed && { KILLS_SEED: values.seed }),
};
const args = ["vitest", "run", "test/kill/random.test.ts", "--disable-console-intercept"];
process.exit(spawnSync("npx", args, { env, stdio: "inherit" }).status ?? 1);

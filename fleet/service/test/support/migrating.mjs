/** `node migrating.mjs PLACE`: brings a database up to date, in a process that a test kills. Needs dist/. */
import { openDatabase } from "../../dist/open-database.js";
import { STEPS } from "./steps.mjs";

const db = await openDatabase({ service: "test", steps: STEPS, place: process.argv[2], poolSize: 1 });
console.log("done");
await db.close();

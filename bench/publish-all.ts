/** `npm run bench:publish`: writes the reports that stand in bench/report, whatever made them, into the pages. */
import { publish } from "./publish.ts";
import { reportFolder } from "./results.ts";

publish(reportFolder);

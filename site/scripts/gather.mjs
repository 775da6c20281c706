/** Gathers all sources of the site. */
import { writeExamples } from "./examples.mjs";
import { gatherPages } from "./pages.mjs";
import { writeReference } from "./reference.mjs";

gatherPages();
writeReference();
await writeExamples();

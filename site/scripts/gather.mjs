/** Gathers all that VitePress builds the site from. */
import { writeExamples } from "./examples.mjs";
import { gatherPages } from "./pages.mjs";

gatherPages();
await writeExamples();

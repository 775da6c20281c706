/** Bundles the script of snaps with boxwright's drawing into one file, without the rest of boxwright. */
import { defineConfig } from "vite";

export default defineConfig({
  build: {
    modulePreload: { polyfill: false },
    target: "es2022",
    rollupOptions: { input: "page/snap.js", output: { entryFileNames: "[name].js" } },
  },
});

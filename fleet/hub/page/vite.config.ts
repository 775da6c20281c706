/** Makes one small file of the script of snaps and of boxwright's drawing: what the page needs, and nothing else. */
import { defineConfig } from "vite";

export default defineConfig({
  build: {
    modulePreload: { polyfill: false },
    target: "es2022",
    rollupOptions: { input: "page/snap.js", output: { entryFileNames: "[name].js" } },
  },
});

import { defineConfig } from "vite";

export default defineConfig({
  // Text and script come from files: the page's policy allows nothing inline.
  build: { assetsInlineLimit: 0, modulePreload: { polyfill: false }, target: "es2022" },
});

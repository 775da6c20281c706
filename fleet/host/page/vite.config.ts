import { defineConfig } from "vite";

export default defineConfig({
  // Inline nothing: the page's policy allows scripts and styles from files only.
  build: { assetsInlineLimit: 0, modulePreload: { polyfill: false }, target: "es2022" },
});

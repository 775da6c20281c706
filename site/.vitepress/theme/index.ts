import { defineAsyncComponent, defineComponent, h } from "vue";
import type { Theme } from "vitepress";
import DefaultTheme from "vitepress/theme-without-fonts";
import "./style.css";
import "./playground.css";

/** Makes a component that only browsers load: pages are rendered without it when the site is built. */
const inBrowser = (load: () => Promise<object>) =>
  import.meta.env.SSR
    ? defineComponent({ render: () => h("div", { class: "loading" }) })
    : defineAsyncComponent(load as never);

export default {
  extends: DefaultTheme,
  enhanceApp({ app }) {
    // The page holds what the playground shows first, so that it stands there before a program has run.
    app.component(
      "PlaygroundPage",
      defineAsyncComponent(() => import("../../src/components/PlaygroundPage.vue") as never),
    );
    app.component(
      "MeasurePage",
      inBrowser(() => import("../../src/components/MeasurePage.vue")),
    );
    app.component(
      "LiveExample",
      inBrowser(() => import("../../src/components/LiveExample.vue")),
    );
    keepForOffline();
  },
} satisfies Theme;

/** Milliseconds after a page has loaded. By then its first example is decoded: keeping the files takes a processor. */
const LATER = 5000;

/** Lets a service worker keep the site, some time after the page has loaded. */
function keepForOffline(): void {
  if (import.meta.env.SSR || import.meta.env.DEV || !("serviceWorker" in navigator)) return;
  const register = (): void => {
    // Without it the site works all the same, online.
    navigator.serviceWorker.register(`${import.meta.env.BASE_URL}sw.js`).catch(() => undefined);
  };
  const later = (): void => void setTimeout(register, LATER);
  if (document.readyState === "complete") later();
  else window.addEventListener("load", later, { once: true });
}

import { type Component, defineAsyncComponent, h } from "vue";
import { type Theme, useData } from "vitepress";
import DefaultTheme from "vitepress/theme-without-fonts";
import FirstResult from "../../src/components/FirstResult.vue";
import MissingPage from "../../src/components/MissingPage.vue";
import "./style.css";
import "./playground.css";

export default {
  extends: DefaultTheme,
  Layout: () => {
    const { found, kB } = useData().theme.value.first;
    return h(DefaultTheme.Layout, null, {
      "home-features-before": () => h(FirstResult, { found, kilobytes: kB }),
      "not-found": () => h(MissingPage),
    });
  },
  enhanceApp({ app }) {
    // These components render into the HTML, so their first state is visible before a program has run.
    const components = {
      PlaygroundPage: () => import("../../src/components/PlaygroundPage.vue"),
      MeasurePage: () => import("../../src/components/MeasurePage.vue"),
      LiveExample: () => import("../../src/components/LiveExample.vue"),
    };
    for (const [name, load] of Object.entries(components))
      app.component(name, defineAsyncComponent(load as () => Promise<Component>));
    keepForOffline();
  },
} satisfies Theme;

/** Milliseconds after a page has loaded. By then the first example is decoded: caching files takes CPU time. */
const LATER = 5000;

/** Lets a service worker cache the site, some time after the page has loaded. */
function keepForOffline(): void {
  if (import.meta.env.SSR || import.meta.env.DEV || !("serviceWorker" in navigator)) return;
  const register = (): void => {
    // If this fails, the site still works online.
    navigator.serviceWorker.register(`${import.meta.env.BASE_URL}sw.js`).catch(() => undefined);
  };
  const later = (): void => void setTimeout(register, LATER);
  if (document.readyState === "complete") later();
  else window.addEventListener("load", later, { once: true });
}

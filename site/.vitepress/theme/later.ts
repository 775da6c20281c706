/**
 * Vue takes over a page at once, and the browser does nothing else meanwhile. The bar at the top and the sidebar are
 * two thirds of that work, and the links in them work without Vue. A wide screen takes them over in tasks of their own.
 * On a phone, the first touch or key takes them over, before anything else hears of it.
 */
import { type Component, type HydrationStrategy, defineAsyncComponent } from "vue";

const whenNeeded: HydrationStrategy = (takeOver) => {
  const end = new AbortController();
  const once = (): void => {
    end.abort();
    takeOver();
  };
  for (const event of ["pointerdown", "keydown", "click"])
    window.addEventListener(event, once, { capture: true, signal: end.signal });
  if (matchMedia("(min-width: 960px)").matches) setTimeout(once);
  return () => end.abort();
};

/** Returns a part of the theme that Vue takes over when it is needed. */
export const takenOverLater = (part: Component): Component =>
  defineAsyncComponent({ loader: async () => part, hydrate: whenNeeded });

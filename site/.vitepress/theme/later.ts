/**
 * Vue hydrates a page in one task, which blocks the browser. The top bar and the sidebar are two thirds of that work,
 * and their links work without Vue. On a wide screen Vue hydrates each of them in a separate task. On a phone it waits
 * for the first touch or key, and hydrates them before any other listener gets the event.
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

/** Returns a part of the theme that Vue hydrates later. */
export const takenOverLater = (part: Component): Component =>
  defineAsyncComponent({ loader: async () => part, hydrate: whenNeeded });

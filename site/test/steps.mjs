/** Steps that the cases share. */

export function isTrue(value, message) {
  if (!value) throw new Error(message);
}

export function equal(got, expected, what) {
  if (got !== expected) throw new Error(`${what}: got ${got}, expected ${expected}`);
}

/** Opens the playground and waits for its first example. */
export async function openPlayground(page, address) {
  await page.goto(`${address}playground.html`);
  await settled(page, "boxes");
}

/** Waits until an example, or files (""), are decoded and the candidates are listed. */
export async function settled(page, example) {
  await page.waitForFunction((name) => {
    const status = document.querySelector(".status");
    const pressed = document.querySelector("[data-example][aria-pressed=true]")?.dataset.example ?? "";
    const count = Number(document.querySelector("[data-summary]")?.dataset.count ?? -1);
    return (
      status?.dataset.busy === "false" &&
      pressed === name &&
      count >= 0 &&
      document.querySelector("[data-candidates]")
    );
  }, example);
}

/** Returns the sentence under the picture, and how many detections it is about. */
export async function summaryOf(page) {
  const summary = page.locator("[data-summary]");
  return { text: await summary.innerText(), count: Number(await summary.getAttribute("data-count")) };
}

export const readText = (page, selector) => page.locator(selector).first().innerText();

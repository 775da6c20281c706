/** Creates small elements. Texts never become HTML, since devices choose names. */

type Given<Name extends keyof HTMLElementTagNameMap> = Partial<
  Pick<HTMLElementTagNameMap[Name], "className" | "textContent" | "hidden" | "title"> & Record<string, unknown>
>;

export function make<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  given: Given<Name> = {},
  ...children: (string | Node)[]
): HTMLElementTagNameMap[Name] {
  const element = Object.assign(document.createElement(name), given);
  element.append(...children);
  return element;
}

/** Returns a button. `label` is the full description of a short text. */
export function makeButton(text: string, onClick: () => void, label?: string): HTMLButtonElement {
  const button = make("button", { type: "button", textContent: text });
  if (label !== undefined) button.setAttribute("aria-label", label);
  button.addEventListener("click", onClick);
  return button;
}

/** Returns a line for messages to the reader, which screen readers read out. */
export function makeStatus(): HTMLParagraphElement {
  const said = make("p", { className: "said" });
  said.setAttribute("role", "status");
  return said;
}

/** Returns a field with its name above. */
export const makeField = (name: string, field: HTMLElement): HTMLLabelElement =>
  make("label", { className: "field" }, make("span", { textContent: name }), field);

/** Fills a select with options, and keeps the chosen one. */
export function fillSelect(
  select: HTMLSelectElement,
  texts: readonly (readonly [value: string, text: string])[],
): void {
  const { value, options } = select;
  if (options.length === texts.length && texts.every(([one], i) => options[i]!.value === one)) return;
  select.replaceChildren(...texts.map(([one, text]) => make("option", { value: one, textContent: text })));
  select.value = texts.some(([one]) => one === value) ? value : texts[0]![0];
}

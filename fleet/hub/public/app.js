// The pages work without this file. It adds copy buttons, prevents that a double click sends a form twice, and closes
// menus.
for (const button of document.querySelectorAll("button[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const text = document.getElementById(button.dataset.copy);
    const status = document.getElementById(`${button.dataset.copy}-status`);
    try {
      await navigator.clipboard.writeText(text.textContent);
      status.textContent = "Copied.";
    } catch {
      getSelection().selectAllChildren(text);
      status.textContent = "The browser did not allow it: the text is selected, copy it with the keyboard.";
    }
  });
}
for (const form of document.querySelectorAll("form[method=post]")) {
  form.addEventListener("submit", (event) => {
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = "yes";
  });
}
// Add a box that ticks all others. Without scripts there is no such box.
for (const label of document.querySelectorAll("label[data-all]")) {
  const all = label.querySelector("input");
  const boxes = document.querySelectorAll(`input[type=checkbox][name=${label.dataset.all}]`);
  label.hidden = false;
  all.addEventListener("change", () => {
    for (const box of boxes) box.checked = all.checked;
  });
}
// Enable the forms of a page that the browser restores from its memory.
addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
});
// Remove the message from the address, so that a reload does not show it again.
const address = new URL(location.href);
if (address.searchParams.has("said")) {
  address.searchParams.delete("said");
  history.replaceState(null, "", address);
}
// Scroll to the present entry: on a phone, the entries of a team are wider than the screen.
document.querySelector("header nav a[aria-current]")?.scrollIntoView({ inline: "center", block: "nearest" });
const menu = document.querySelector("details.person");
if (menu) {
  addEventListener("click", (event) => menu.contains(event.target) || (menu.open = false));
  addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    menu.open = false;
    menu.querySelector("summary").focus();
  });
}

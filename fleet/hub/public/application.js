// The form of a version works without this file. The script checks the form while the user types, and uploads model
// files. The form of a release and the list of model files only upload.
const form = document.querySelector("form[data-check]");
const PAUSE_MS = 700;
let timer;
let asked = 0;
async function check() {
  const number = ++asked;
  const body = new URLSearchParams(new FormData(form));
  body.set("do", "check");
  const target = document.getElementById(form.dataset.check);
  target.setAttribute("aria-busy", "true");
  const answer = await fetch(form.action, { method: "POST", body }).catch(() => undefined);
  // Ignore an outdated answer, since the form has changed meanwhile.
  if (number !== asked) return;
  target.removeAttribute("aria-busy");
  if (answer === undefined) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const said = page.getElementById(form.dataset.check);
  if (number === asked && said !== null) target.replaceChildren(...said.childNodes);
}
form?.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(check, PAUSE_MS);
});

const place = document.querySelector("[data-upload]");
const PART = 4 * 1024 * 1024;
const hex = (bytes) => Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");
async function send(file, tell) {
  tell("Reading the file");
  const sha256 = hex(await crypto.subtle.digest("SHA-256", await file.arrayBuffer()));
  const address = `${place.dataset.upload}/${sha256}?name=${encodeURIComponent(file.name)}`;
  const known = await fetch(address, { method: "HEAD" });
  let offset = known.ok ? Number(known.headers.get("upload-offset")) : 0;
  let done = known.headers.get("upload-complete") === "?1";
  for (let failures = 0; !done;) {
    tell(`Sending: ${Math.round((100 * offset) / file.size)} %`);
    const headers = {
      "x-hub-csrf": place.dataset.csrf,
      "upload-offset": String(offset),
      "upload-length": String(file.size),
    };
    const body = file.slice(offset, offset + PART);
    const answer = await fetch(address, { method: "PUT", headers, body }).catch(() => undefined);
    if (answer?.status === 201) done = true;
    else if (answer?.status === 202 || answer?.status === 409) {
      offset = Number(answer.headers.get("upload-offset"));
      // Another page may be sending the same file. Wait as long as the hub asks.
      const pause = Number(answer.headers.get("retry-after") ?? 0);
      await new Promise((resolve) => setTimeout(resolve, 1000 * pause));
    } else if (answer !== undefined && answer.status < 500) throw new Error((await answer.json()).errors[0].message);
    else if (++failures > 5) throw new Error("The connection broke off. Choose the file again to go on.");
    else await new Promise((resolve) => setTimeout(resolve, 1000 * failures));
  }
  return sha256;
}
place.hidden = false;
const input = place.querySelector("input");
const status = place.querySelector("[role=status]");
input.addEventListener("change", async () => {
  const [file] = input.files;
  if (file === undefined) return;
  try {
    const sha256 = await send(file, (text) => (status.textContent = text));
    status.textContent = "The file is there.";
    const select = document.getElementById("model");
    // Show the file in the list. The form of a release has no list, and may hold text that is not saved.
    if (select === null) return void (document.querySelector("textarea") ?? location.reload());
    if (![...select.options].some(({ value }) => value === sha256))
      select.add(new Option(`${file.name} (${sha256.slice(0, 8)})`, sha256));
    select.value = sha256;
    await check();
  } catch (error) {
    status.textContent = error.message;
  }
  input.value = "";
});

/** Suggests options in place of a misspelt or unknown option. */
import { namedElsewhere, plainName as plain } from "../../core/names.ts";
import { COMMAND_NAMES, type CommandName, optionsOf } from "./options.ts";

/** Returns a sentence that suggests options in place of an unknown option. */
export function completionOf(word: string, command: CommandName): string {
  const similar = similarOptions(word, command);
  if (similar.length > 0) return `Did you mean ${similar.map((name) => `--${name}`).join(" or ")}?`;
  const others = COMMAND_NAMES.filter((other) => Object.hasOwn(optionsOf(other), word));
  const last = others.pop();
  return last !== undefined
    ? `It is an option of ${[...(others.length > 0 ? [others.join(", ")] : []), last].join(" and ")}, not of ${command}.`
    : `${command} has no option like it.`;
}

/** Returns the options of a command that resemble a word. Tries kinds of likeness from the strongest on. */
function similarOptions(word: string, command: CommandName): string[] {
  const wanted = plain(word);
  const options = Object.entries(optionsOf(command)).map(([name, { sets, aliases }]) => ({
    name,
    plain: plain(name),
    sets: sets ?? "",
    aliases: aliases ?? [],
  }));
  const elsewhere = namedElsewhere(
    wanted,
    options.map(({ sets }) => sets),
  );
  const kinds: ((option: (typeof options)[number]) => boolean)[] = [
    (o) => wanted === o.plain || wanted === plain(o.sets),
    (o) => o.aliases.includes(wanted),
    (o) => o.sets === elsewhere,
    (o) =>
      wanted.length > 1 && (o.plain.startsWith(wanted) || (o.plain.length > 1 && wanted.startsWith(o.plain))),
    (o) => wanted.length > 2 && distance(wanted, o.plain) <= (wanted.length < 5 ? 1 : 2),
  ];
  for (const isAlike of kinds) {
    const found = options.filter(isAlike);
    if (found.length > 0) return found.map(({ name }) => name);
  }
  return [];
}

/** Returns how many letters must be changed, added or dropped to turn one word into the other. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 0; i < a.length; i++) {
    const next = [i + 1];
    for (let k = 0; k < b.length; k++)
      next.push(Math.min(row[k] + (a[i] === b[k] ? 0 : 1), row[k + 1] + 1, next[k] + 1));
    row = next;
  }
  return row[b.length];
}

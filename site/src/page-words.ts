/** Messages of the library in the words of this page: it has buttons where a program has commands and options. */

/** What the library says, and where this page has the same. */
const WORDS: readonly (readonly [said: RegExp, here: string])[] = [
  [/(npx )?boxwright inspect lists what the shapes can be/g, "the readings below say what the shapes can be"],
  [/labels: "coco\d+" names them/g, 'the button "COCO names" names them'],
  [/labels: "(coco\d+)" names those/g, 'the button "COCO names" ($1) names those'],
];

/** Returns a message that names what the page has. */
export const pageWords = (message: string): string =>
  WORDS.reduce((text, [said, here]) => text.replace(said, here), message);

/** Rewrites messages of the library for this page, which has buttons instead of commands and options. */

/** Phrases in the library's messages, each with the page's phrase for the same. */
const WORDS: readonly (readonly [said: RegExp, here: string])[] = [
  [/(npx )?boxwright inspect lists what the shapes can be/g, "the readings below say what the shapes can be"],
  [/labels: "coco\d+" names them/g, 'the button "COCO names" names them'],
  [/labels: "(coco\d+)" names those/g, 'the button "COCO names" ($1) names those'],
];

/** Returns a message in the words of the page. */
export const pageWords = (message: string): string =>
  WORDS.reduce((text, [said, here]) => text.replace(said, here), message);

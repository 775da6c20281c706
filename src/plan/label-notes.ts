/** Notes on class names that use other class ids than the network. */
import { areCoco, COCO_CLASSES } from "../core/coco.ts";
import type { HeadDraft } from "../heads/head.ts";
import type { HeadQuery } from "../heads/query.ts";
import { beginsWithBackground } from "../config/background.ts";

/**
 * Returns a note if a tensor holds class ids and the config's labels probably belong to other ids. If the tensors hold
 * a score for each class instead, returns no note: labels are then checked against the class count of the shape.
 */
export function notesOfLabels(query: HeadQuery, heads: readonly HeadDraft[]): string[] {
  const { labels, family, traits, background } = query;
  if (!labels || !heads.some(({ classId }) => classId !== null)) return [];
  const countsBackground = traits.background === "first" && !traits.idsLeaveOutBackground;
  if (traits.cocoOwnIds && areCoco(labels, COCO_CLASSES))
    return [
      `labels are the ${COCO_CLASSES} names of COCO without gaps, and networks of ${family} that know COCO have its ` +
        'own ids, 1..90: labels: "coco91" names those',
    ];
  if (countsBackground && background !== false && !beginsWithBackground(labels))
    return [
      `class ids of ${family} count the background as 0, and labels begin with "${labels[0]}": put "background" in ` +
        'front of them ("voc21" is "voc20" with the background), or say background: false if 0 is a class',
    ];
  return beginsWithBackground(labels) && background === null && !traits.background && !traits.cocoOwnIds
    ? [
        `labels begin with "${labels[0]}", and class ids of ${family} count no background: 0 is the first class. Are ` +
          `they the names of this network?${areOwnIds(labels) ? ' "coco80" are those of COCO without gaps' : ""}`,
      ]
    : [];
}

const areOwnIds = (labels: readonly string[]): boolean => areCoco(labels.slice(1), 90);

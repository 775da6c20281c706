/** `boxwright/priors`: the prior boxes of well-known networks. */
export {
  type CaffePriorLayer,
  type SsdAnchorOptions,
  blazefaceAnchors,
  caffePriors,
  ssdAnchors,
  ssdMobilenetAnchors,
  ultrafacePriors,
} from "../heads/priors.ts";

/** `boxwright/tiles`: large pictures in pieces. */
export { type Tile, type TileOptions, tiles } from "../tiles/plan.ts";
export { type MergeTilesOptions, type TileMerger, createTileMerger, mergeTiles } from "../tiles/merge.ts";
export { type Detection, Detections } from "../decode/detections.ts";

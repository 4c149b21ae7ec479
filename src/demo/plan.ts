import { newId } from '../ids/new-id.ts';
import type { PhotoFiles } from '../inventory/photos/storage/photo-files.ts';
import { DEMO_PARTS } from './catalogue/parts.ts';
import { DEMO_WATCHES } from './catalogue/watches.ts';
import { drawPart } from './drawing/part/part-drawing.ts';
import { CANVAS_PX } from './drawing/shapes.ts';
import { drawBack } from './drawing/watch/back-drawing.ts';
import { drawWatch } from './drawing/watch/watch-drawing.ts';

export const DRAWING_SIDE_PX = CANVAS_PX;
const WRITES_AT_ONCE = 8;

/** What happens to some of the stock, by the maker's reference or the part's number. */
export const SOLD = ['116508', '5711/1A-010', '168.005', 'CB', 'HR-CAS-1675'];
export const RESERVED = ['126710BLRO', '15500ST.OO.1220ST.01', 'SBGA211'];
export const HIDDEN = ['IW503302', '405.035', 'OM-ARC-EXT'];
/** On the channels once, and taken off again. */
export const TAKEN_OFF = ['126660', '79360N'];
export const NEVER_PUBLISHED = ['5205G-013', 'PAM00683', 'PP-BKL-18R'];
/** Not on the staging website, as new arrivals are not. */
export const LIVE_ONLY = ['5172G-001', 'M28603-0005', 'AE-TLS-SD2'];

/** Promotions: so many percent off, from and until so many days from now; null runs on. */
export const PROMOTIONS: readonly { of: string; percentOff: number; fromDay: number; untilDay: number | null }[] = [
  { of: '126233', percentOff: 7, fromDay: -3, untilDay: 11 },
  { of: '310.30.42.50.01.001', percentOff: 6, fromDay: -10, untilDay: 20 },
  { of: 'L2.909.4.78.3', percentOff: 12, fromDay: -1, untilDay: 6 },
  { of: 'SPB143J1', percentOff: 10, fromDay: -5, untilDay: 30 },
  { of: 'AE-ALG-2018-BR', percentOff: 15, fromDay: -2, untilDay: 12 },
  { of: 'AB0134101C1A1', percentOff: 9, fromDay: -20, untilDay: null },
  { of: 'IW388101', percentOff: 8, fromDay: -14, untilDay: null },
  { of: 'AE-RUB-22-BL', percentOff: 20, fromDay: -30, untilDay: null },
  { of: 'WSSA0018', percentOff: 8, fromDay: 7, untilDay: 21 },
];

export type PlannedPhoto = { id: string; drawing: string };

/** The photos of each item, in the order of the stock: front and back of a watch, one of a part. */
export type PhotoPlan = { watches: PlannedPhoto[][]; parts: PlannedPhoto[][] };

export function planPhotos(): PhotoPlan {
  const photo = (drawing: string): PlannedPhoto => ({ id: newId('photo'), drawing });
  return {
    watches: DEMO_WATCHES.map(({ attributes, look }) => [
      photo(drawWatch(attributes, look)),
      photo(drawBack(attributes, look)),
    ]),
    parts: DEMO_PARTS.map(({ attributes, look }) => [photo(drawPart(attributes, look))]),
  };
}

/**
 * Stores the drawings themselves. They become pictures when somebody first looks at them: rendering all of them here
 * would take half a minute of a processor, writing them takes a quarter of a second.
 */
export async function writeDrawings(files: PhotoFiles, plan: PhotoPlan): Promise<void> {
  const waiting = [...plan.watches, ...plan.parts].flat();
  const write = async () => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      await files.write(next.id, 'original.svg', Buffer.from(next.drawing));
    }
  };
  await Promise.all(Array.from({ length: WRITES_AT_ONCE }, write));
}

import type { WatchAttributes } from '../../contract/resources/listing.ts';
import type { Look } from '../drawing/look.ts';
import { attributesOf, descriptionOf, type WatchSpec } from './watch-spec.ts';
import { JAPAN_AND_ELSEWHERE } from './watches-elsewhere.ts';
import { GENEVA_AND_THE_VALLEY } from './watches-geneva.ts';
import { JURA_AND_SCHAFFHAUSEN } from './watches-jura.ts';
import { PARIS_AND_SAXONY } from './watches-paris-saxony.ts';
import { ROLEX_AND_TUDOR } from './watches-rolex-tudor.ts';

/** A watch of the demo, ready to be taken into stock and to be drawn. */
export type DemoWatch = {
  title: string;
  description: string;
  /** In whole units of the dealer's currency. */
  price: number;
  units: number;
  attributes: WatchAttributes;
  look: Partial<Look>;
};

export const DEMO_WATCHES: readonly DemoWatch[] = [
  ...ROLEX_AND_TUDOR,
  ...GENEVA_AND_THE_VALLEY,
  ...JURA_AND_SCHAFFHAUSEN,
  ...PARIS_AND_SAXONY,
  ...JAPAN_AND_ELSEWHERE,
].map(watchOf);

function watchOf(spec: WatchSpec): DemoWatch {
  const attributes = attributesOf(spec);
  return {
    title: spec.name.join(' '),
    description: descriptionOf(spec, attributes),
    price: spec.price,
    units: spec.units ?? 1,
    attributes,
    look: spec.look ?? {},
  };
}

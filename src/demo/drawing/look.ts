import type { WatchAttributes } from '../../contract/resources/listing.ts';
import { BLUED_STEEL, DIALS, LUME } from './colors.ts';

/** What a drawing needs beside the attributes: shapes that no field names. */
export type Look = {
  shape: 'round' | 'cushion' | 'octagon' | 'porthole' | 'tonneau' | 'rectangle';
  bezel: 'smooth' | 'fluted' | 'coin' | 'diver' | 'gmt' | 'tachymeter' | 'screwed' | 'gems';
  /** Of a bezel's inlay: its upper and its lower half. */
  inlay: readonly [upper: string, lower: string];
  texture: 'sunburst' | 'plain' | 'grid' | 'waves' | 'stripes' | 'guilloche' | 'grain' | 'open';
  indices: 'batons' | 'plots' | 'arabic' | 'roman' | 'pilot' | 'daggers' | 'gems';
  hands: 'baton' | 'mercedes' | 'snowflake' | 'dauphine' | 'leaf' | 'sword' | 'breguet' | 'cathedral';
  /** Hours where small dials stand; what they show follows from the complications. */
  subdials: readonly Subdial[];
  date: 'three' | 'four' | 'six' | 'large' | 'day-date' | 'none';
  /** Of the thin hand: seconds, or the second time zone. */
  accent: string;
  band:
    | 'oyster'
    | 'jubilee'
    | 'president'
    | 'integrated'
    | 'mesh'
    | 'beads'
    | 'alligator'
    | 'leather'
    | 'rubber'
    | 'textile';
  lume: string;
};

export type Subdial = {
  hour: number;
  shows: 'seconds' | 'counter' | 'moon' | 'calendar' | 'reserve' | 'tourbillon';
  /** Another colour than the dial's. */
  color?: string;
};

/** Fills in what follows from the attributes, so that a watch only names what is peculiar to it. */
export function lookOf(watch: WatchAttributes, given: Partial<Look> = {}): Look {
  const dial = DIALS[watch.dial_color ?? 'silver'];
  const has = (name: WatchAttributes['complications'][number]) => watch.complications.includes(name);
  const isGold = /gold|bronze/.test(watch.case_material ?? '');
  return {
    shape: 'round',
    bezel: watch.bezel_material === 'diamond_set' ? 'gems' : 'smooth',
    inlay: ['#15171a', '#15171a'],
    texture: dial.isDark || watch.dial_color === 'silver' ? 'sunburst' : 'plain',
    indices: indicesOf(watch),
    hands: 'baton',
    subdials: subdialsOf(has),
    date: has('day_date') || (has('day') && has('date')) ? 'day-date' : has('date') ? 'three' : 'none',
    accent: dial.isDark ? (isGold ? '#e8c677' : '#f0f1f2') : BLUED_STEEL,
    band: bandOf(watch),
    lume: LUME,
    ...given,
  };
}

function indicesOf(watch: WatchAttributes): Look['indices'] {
  switch (watch.dial_numerals) {
    case 'arabic':
    case 'breguet':
    case 'mixed':
    case 'sector':
      return 'arabic';
    case 'roman':
      return 'roman';
    case 'gemstone':
      return 'gems';
    default:
      return 'batons';
  }
}

function subdialsOf(has: (name: WatchAttributes['complications'][number]) => boolean): Subdial[] {
  if (has('chronograph')) {
    return [
      { hour: 3, shows: 'counter' },
      { hour: 6, shows: 'counter' },
      { hour: 9, shows: 'seconds' },
    ];
  }
  if (has('perpetual_calendar')) {
    return [
      { hour: 3, shows: 'calendar' },
      { hour: 6, shows: 'moon' },
      { hour: 9, shows: 'calendar' },
    ];
  }
  if (has('moon_phase')) return [{ hour: 6, shows: 'moon' }];
  if (has('tourbillon')) return [{ hour: 6, shows: 'tourbillon' }];
  return has('small_seconds') ? [{ hour: 6, shows: 'seconds' }] : [];
}

function bandOf(watch: WatchAttributes): Look['band'] {
  switch (watch.bracelet_material) {
    case 'alligator':
      return 'alligator';
    case 'leather':
    case 'calfskin':
      return 'leather';
    case 'rubber':
    case 'silicone':
      return 'rubber';
    case 'textile':
      return 'textile';
    default:
      return 'oyster';
  }
}

import type { ValueOf } from '../../contract/enumerations.ts';

/** Colours of what watches are made of: dark, middle, light and a glint, for gradients. */
export type Metal = { dark: string; base: string; light: string; glint: string };

const STEEL: Metal = { dark: '#6d7278', base: '#a9aeb4', light: '#dfe3e6', glint: '#fbfcfd' };
const YELLOW: Metal = { dark: '#8a6420', base: '#cda24a', light: '#f0d48c', glint: '#fff4cf' };
const ROSE: Metal = { dark: '#8a5138', base: '#cb8a69', light: '#efc0a3', glint: '#ffeadd' };
const WHITE: Metal = { dark: '#75777a', base: '#b9bab9', light: '#e6e6e2', glint: '#fffefa' };
const PLATINUM: Metal = { dark: '#70767f', base: '#b3bac3', light: '#e3e9ef', glint: '#ffffff' };
const TITANIUM: Metal = { dark: '#4c4f52', base: '#7f8386', light: '#aeb1b2', glint: '#d5d7d6' };
const CERAMIC: Metal = { dark: '#08090b', base: '#1d1f23', light: '#4a4e55', glint: '#9a9fa8' };
const BRONZE: Metal = { dark: '#5c4020', base: '#99713c', light: '#c8a066', glint: '#ead2a0' };
const CARBON: Metal = { dark: '#101113', base: '#2a2c2f', light: '#4d5053', glint: '#7d8083' };
const TANTALUM: Metal = { dark: '#353b45', base: '#5b6472', light: '#8791a0', glint: '#b6bfcb' };

export const METALS: Record<string, Metal> = {
  steel: STEEL,
  yellow_gold: YELLOW,
  rose_gold: ROSE,
  white_gold: WHITE,
  platinum: PLATINUM,
  titanium: TITANIUM,
  ceramic: CERAMIC,
  bronze: BRONZE,
  carbon: CARBON,
  tantalum: TANTALUM,
  gold_steel: STEEL,
  gold_plated: YELLOW,
  silver: WHITE,
  sapphire: PLATINUM,
  plastic: CARBON,
  aluminium: TITANIUM,
  diamond_set: WHITE,
  none: STEEL,
};

export function metalOf(material: string | null): Metal {
  return METALS[material ?? 'steel'] ?? STEEL;
}

/** Middle and edge of a dial, and the colour that print and thin lines have on it. */
export type DialColor = { middle: string; edge: string; print: string; isDark: boolean };

export const DIALS: Record<ValueOf<'dial_color'>, DialColor> = {
  black: { middle: '#2b2d31', edge: '#0b0c0e', print: '#f1f1ec', isDark: true },
  white: { middle: '#ffffff', edge: '#eceae5', print: '#23262b', isDark: false },
  silver: { middle: '#f4f3ef', edge: '#c6c5c0', print: '#25282d', isDark: false },
  blue: { middle: '#2f5f9e', edge: '#0d2345', print: '#f3f5f8', isDark: true },
  green: { middle: '#2c6f4d', edge: '#0a2f1e', print: '#f2f5ef', isDark: true },
  grey: { middle: '#83878c', edge: '#44484d', print: '#f5f5f3', isDark: true },
  brown: { middle: '#7b5236', edge: '#34200f', print: '#f6efe4', isDark: true },
  champagne: { middle: '#f2dfae', edge: '#cdae6b', print: '#3d2f16', isDark: false },
  salmon: { middle: '#f0c3a2', edge: '#d09672', print: '#2c2522', isDark: false },
  red: { middle: '#a8323a', edge: '#520f17', print: '#fbf3ef', isDark: true },
  yellow: { middle: '#f7dd55', edge: '#dcae1f', print: '#24221a', isDark: false },
  orange: { middle: '#f08a3a', edge: '#bb5212', print: '#fff6ea', isDark: true },
  purple: { middle: '#69477f', edge: '#2d1a3c', print: '#f6f1f8', isDark: true },
  turquoise: { middle: '#8fdcd6', edge: '#52b5b3', print: '#1d2c2e', isDark: false },
  mother_of_pearl: { middle: '#fbf8f6', edge: '#d9dfe4', print: '#2b2d31', isDark: false },
  meteorite: { middle: '#b6b8ba', edge: '#74787c', print: '#17191c', isDark: false },
  skeleton: { middle: '#8b8f94', edge: '#3b3f44', print: '#f5f5f3', isDark: true },
};

export const STRAPS: Record<ValueOf<'bracelet_color'>, { base: string; dark: string; stitch: string }> = {
  steel: { base: '#a9aeb4', dark: '#6d7278', stitch: '#dfe3e6' },
  gold: { base: '#cda24a', dark: '#8a6420', stitch: '#f0d48c' },
  rose_gold: { base: '#cb8a69', dark: '#8a5138', stitch: '#efc0a3' },
  gold_steel: { base: '#a9aeb4', dark: '#6d7278', stitch: '#f0d48c' },
  black: { base: '#2a2a2c', dark: '#0f0f11', stitch: '#5b5b5f' },
  brown: { base: '#7a4a2a', dark: '#44260f', stitch: '#d9b98d' },
  blue: { base: '#24426e', dark: '#0f1f3a', stitch: '#8fa6c8' },
  green: { base: '#33533c', dark: '#16281b', stitch: '#9fb89f' },
  grey: { base: '#6d7074', dark: '#3d4043', stitch: '#b4b7ba' },
  white: { base: '#f0eee9', dark: '#c5c2ba', stitch: '#ffffff' },
  red: { base: '#9d2f33', dark: '#571317', stitch: '#e0a3a0' },
  orange: { base: '#e2742b', dark: '#9a440e', stitch: '#ffd2ab' },
  beige: { base: '#c7ad86', dark: '#8f774f', stitch: '#f1e4cb' },
};

export const LUME = '#eef3df';
export const BLUED_STEEL = '#1f3f8f';

/** Whether white print reads better on it than black. */
export function isDark(color: string): boolean {
  const [red = 0, green = 0, blue = 0] = (color.match(/[0-9a-f]{2}/gi) ?? []).map((part) => Number.parseInt(part, 16));
  return red * 0.3 + green * 0.59 + blue * 0.11 < 140;
}

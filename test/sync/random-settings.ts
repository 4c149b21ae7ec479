import { setTimeout as sleep } from 'node:timers/promises';
import { ROUNDINGS } from '../../src/channel/projection/pricing.ts';
import { rollVersion } from '../../src/channel/roll-version.ts';
import { valuesOf } from '../../src/contract/enumerations.ts';
import { setOrganization } from '../../src/dealers/integrations/attach-integration.ts';
import {
  changePresentation,
  IMAGE_FORMATS,
  type PresentationSettings,
} from '../../src/dealers/integrations/integration-settings.ts';
import { changeOrganization, type OrganizationSettings } from '../../src/dealers/organization-settings.ts';
import { setRate } from '../../src/dealers/rates/exchange-rates.ts';
import {
  createBusinessUnit,
  createLocation,
  renameBusinessUnit,
  renameLocation,
} from '../../src/inventory/locations.ts';
import { TESTER } from '../harness/actor.ts';
import type { Dice } from '../harness/dice.ts';
import type { Shop } from '../harness/shop.ts';
import type { World } from '../harness/world.ts';

/** Everything that alters all documents of a channel at once: its settings, its dealer's, rates, version, belonging. */
export type RandomSettings = {
  /** Where the dealer's stock may lie. */
  locationId: string;
  /** Each with how often it comes. */
  changes: [number, (random: Dice) => Promise<unknown>][];
};

/** Each can be converted into each, in one direction or the other, at any time. */
const CURRENCIES = ['USD', 'EUR', 'CHF'] as const;
const PAIRS = [
  ['USD', 'EUR'],
  ['EUR', 'CHF'],
  ['CHF', 'USD'],
] as const;
const AWAY_MAX_MS = 60;

export async function openRandomSettings(world: World, shops: Shop[]): Promise<RandomSettings> {
  const { channel, db } = world;
  const organizationId = shops[0]?.organizationId ?? '';
  const unitId = await createBusinessUnit(db, TESTER, organizationId, 'Geneva');
  const locationId = await createLocation(db, TESTER, organizationId, unitId, 'Showroom');
  for (const [base, quote] of PAIRS) await setRate(channel, TESTER, base, quote, '1.1');

  const present = (random: Dice, changes: Partial<PresentationSettings>) =>
    changePresentation(channel, TESTER, organizationId, random.pick(shops).integrationId, changes);
  const organize = (changes: Partial<OrganizationSettings>) =>
    changeOrganization(channel, TESTER, organizationId, changes);
  const name = (random: Dice) => `Name ${random.roll(1e6)}`;

  async function changeRate(random: Dice): Promise<void> {
    const [one, other] = random.pick(PAIRS);
    const [base, quote] = random.roll(2) === 0 ? [one, other] : [other, one];
    await setRate(channel, TESTER, base, quote, `${1 + random.roll(2)}.${random.roll(100)}`);
  }
  async function move(random: Dice): Promise<void> {
    const address = { line1: name(random), line2: null, city: name(random), state: null, postal_code: null };
    await organize({ address: { ...address, country: random.pick(['CH', 'DE', null]) } });
  }
  /** Away for a moment; whoever comes last attaches. */
  async function detachAndAttach(random: Dice): Promise<void> {
    const { integrationId } = random.pick(shops);
    await setOrganization(db, TESTER, integrationId, null);
    await sleep(random.roll(AWAY_MAX_MS));
    await setOrganization(db, TESTER, integrationId, organizationId);
  }
  const roll = (random: Dice) =>
    rollVersion(channel, TESTER, random.pick(shops).integrationId, random.pick(channel.versions).date);

  return {
    locationId,
    changes: [
      [1, (random) => present(random, { markupBasisPoints: random.roll(5_000) })],
      [1, (random) => present(random, { rounding: random.pick(ROUNDINGS) })],
      [1, (random) => present(random, { imageFormat: random.pick(IMAGE_FORMATS) })],
      [1, (random) => present(random, { currency: random.pick(CURRENCIES) })],
      [1, (random) => organize({ currency: random.pick(CURRENCIES) })],
      [1, (random) => organize({ name: name(random) })],
      [1, (random) => organize({ defaultTaxTreatment: random.pick(valuesOf('tax_treatment')) })],
      [1, move],
      [1, (random) => renameLocation(channel, TESTER, organizationId, locationId, name(random))],
      [1, (random) => renameBusinessUnit(channel, TESTER, organizationId, unitId, name(random))],
      [1, changeRate],
      [1, detachAndAttach],
      [3, roll],
    ],
  };
}

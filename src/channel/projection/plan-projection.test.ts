import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { watch } from '../../../test/harness/stock.ts';
import { runAtOnce } from '../../concurrency/time-slices.ts';
import { CURRENT_VERSION, VERSIONS } from '../../contract/versions.ts';
import type { ItemSource } from './documents.ts';
import {
  type ProjectedChange,
  type ProjectionPlan,
  type ProjectionSources,
  planProjection,
} from './plan-projection.ts';
import { type ChannelSettings, pairKey } from './sources.ts';

const CLOCK = new Date('2026-05-01T10:00:00.000Z');
const NOW = new Date('2026-05-01T10:00:05.000Z');
const ITEM = 'lst_1';

const CHANNEL: ChannelSettings = {
  integrationId: 'int_1',
  organizationId: 'org_1',
  versions: [CURRENT_VERSION],
  endpoint: {
    integrationId: 'int_1',
    organizationId: 'org_1',
    apiVersion: CURRENT_VERSION,
    isTestMode: false,
    url: null,
    subscriptions: [],
    isSending: false,
  },
  priceRule: {
    from: 'USD',
    to: 'USD',
    rate: { numerator: 1n, denominator: 1n },
    markupBasisPoints: 0,
    rounding: 'none',
  },
  imageFormat: 'original',
  publicUrl: 'https://api.example',
  defaultTaxTreatment: 'vat_included',
  dealer: {
    name: 'Dealer',
    address: { line1: null, line2: null, city: null, state: null, postal_code: null, country: null },
  },
};

function item(changes: Partial<ItemSource> = {}): ItemSource {
  const { attributes, ...rest } = watch({ title: 'Before', stockNumber: 'W-1' });
  return {
    ...rest,
    id: ITEM,
    reservedUnits: 0,
    isHidden: false,
    attributes: attributes as ItemSource['attributes'],
    createdAt: CLOCK,
    location: null,
    photos: [],
    promotions: [],
    ...changes,
  };
}

/** The rows of a channel with one published item, on which this was stored before. */
function sources(now: ItemSource | null, before: ProjectionPlan | null): ProjectionSources {
  const stored = before?.documents ?? [];
  return {
    itemIds: [ITEM],
    clocks: new Map([['int_1', CLOCK]]),
    settings: [CHANNEL],
    items: new Map(now === null ? [] : [[pairKey('org_1', ITEM), now]]),
    publications: new Map([[pairKey('int_1', ITEM), { isOn: true, publishedAt: CLOCK }]]),
    stored: new Map(stored.map((row) => [pairKey(row.integrationId, row.version, row.itemId), row])),
    unannounced: new Set(),
    versions: VERSIONS,
    now: NOW,
  };
}

const summary = (plan: ProjectionPlan) => ({
  documents: plan.documents.map(({ stamp }) => stamp.toISOString()),
  removals: plan.removals.length,
  events: plan.events.map(({ event }) => event.type),
  stamps: [...plan.stamps.values()].map((stamp) => stamp.toISOString()),
});
const planned = (read: ProjectionSources, change: ProjectedChange) => runAtOnce(planProjection(read, change));
const project = (now: ItemSource | null, before: ProjectionPlan | null, change: ProjectedChange = {}) =>
  summary(planned(sources(now, before), change));

describe('a plan of a projection', () => {
  const published = planned(sources(item(), null), {});
  const early = { ...published, documents: published.documents.map((row) => ({ ...row, stamp: CLOCK })) };
  const at = NOW.toISOString();

  it('writes a document, stamps it and announces it when an item appears', () => {
    assert.deepEqual(summary(published), { documents: [at], removals: 0, events: ['listing.published'], stamps: [at] });
  });

  it('is empty where nothing differs', () => {
    assert.deepEqual(project(item(), early), { documents: [], removals: 0, events: [], stamps: [] });
  });

  it('announces a difference, and keeps quiet about it while it rerenders', () => {
    const changed = item({ title: 'After' });
    assert.deepEqual(project(changed, early), {
      documents: [at],
      removals: 0,
      events: ['listing.updated'],
      stamps: [at],
    });
    assert.deepEqual(project(changed, early, { mode: 'rerender' }), {
      documents: [CLOCK.toISOString()],
      removals: 0,
      events: [],
      stamps: [],
    });
  });

  it('announces while it rerenders what was not announced before', () => {
    const waiting = { ...sources(item({ title: 'After' }), early), unannounced: new Set(['int_1']) };
    assert.deepEqual(summary(planned(waiting, { mode: 'rerender' })).events, ['listing.updated']);
  });

  it('removes the document of a deleted item, also while it rerenders', () => {
    for (const mode of ['announce', 'rerender'] as const) {
      const plan = project(null, early, { mode });
      assert.deepEqual(plan, { documents: [], removals: 1, events: ['listing.unpublished'], stamps: [at] });
    }
  });

  it('stamps what the caller asks for, also where nothing is projected', () => {
    const detached = { ...sources(null, null), settings: [] };
    const plan = planned(detached, { stampAlso: ['int_1'] });
    assert.deepEqual(summary(plan), { documents: [], removals: 0, events: [], stamps: [at] });
  });
});

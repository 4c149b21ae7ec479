import { isDeepStrictEqual } from 'node:util';
import type { Values } from '../../audit/record-audit.ts';
import { lockClocks } from '../../channel/clock.ts';
import type { ChannelContext } from '../../channel/context.ts';
import { integrationsOf, projectItems } from '../../channel/projection/project-items.ts';
import { DomainError } from '../../contract/domain-error.ts';
import type { Queryable, Transaction } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { transactionTime } from '../../db/sql-time.ts';
import { unnestRows } from '../../db/values/unnest-rows.ts';
import { listChannels } from '../../dealers/integrations/integrations.ts';
import { endOverdueReservations, lockItems } from '../change-items.ts';
import { summarizeItems } from '../lists/stock-summary.ts';
import { switchOff, switchOn } from '../publications.ts';
import { assertEdit, channelsOf, type EditFacts, readEditFacts } from './edit-rules.ts';
import { assertChanges, type ItemChanges } from './item-input.ts';
import { readStockValues, type StockValues } from './stock-values.ts';

/** What a job can change of an item. The stock number is what files know it by, so it stays. */
export type StockChanges = Omit<ItemChanges, 'stockNumber'> & {
  isHidden?: boolean;
  /** Whether the item is on a channel, by the id of the integration. */
  channels?: Record<string, boolean>;
};

/** What to change of an item, decided under its lock. Null skips the item; an error refuses it. */
export type Decide = (item: StockValues) => StockChanges | DomainError | null;

export type EditResult = {
  item: StockValues;
  /** Null if the item was skipped. */
  changes: StockChanges | null;
  error: DomainError | null;
  /** The fields that differ, as they were and as they are; nothing if nothing does. */
  old: Values;
  new: Values;
  /** With `isGoneSkipped`, the fields that were left as they are because their location or channel no longer exists. */
  gone?: GoneField[];
};

export type GoneField = 'locationId' | 'channels';

export type EditOptions = {
  /** A location or channel that no longer exists is left out, instead of refusing its item. An undo can't ask again. */
  isGoneSkipped?: boolean;
};

/**
 * Changes many items in the caller's transaction: few statements for all of them, where `editItem` takes some for each.
 * What is refused does not keep the others from being changed.
 */
export async function editItems(
  tx: Transaction,
  context: ChannelContext,
  organizationId: string,
  itemIds: string[],
  decide: Decide,
  { isGoneSkipped = false }: EditOptions = {},
): Promise<{ results: EditResult[]; touched: string[] }> {
  const locked = await lockItems(tx, organizationId, itemIds);
  const lockedIds = locked.map((item) => item.id);
  // An edit may put items on any of the dealer's channels.
  const allChannels = async () => (await listChannels(tx, organizationId)).map(({ id }) => id);
  const clocksOfAll = await endOverdueReservations(tx, context, locked, allChannels);
  const items = await readStockValues(tx, organizationId, lockedIds);
  const drafts = items.map((item) => draftOf(item, decide));
  const differing = drafts.filter((draft) => Object.keys(draft.new).length > 0);
  if (differing.length === 0 && clocksOfAll === null) return { results: drafts, touched: [] };
  const ids = differing.map(({ item }) => item.id);
  const integrationIds = new Set([...(await integrationsOf(tx, ids)), ...differing.flatMap(channelsOf)]);
  const clocks = clocksOfAll ?? (await lockClocks(tx, [...integrationIds].sort()));
  // Under the clocks, so that a channel stays the dealer's and a location is not deleted meanwhile.
  const facts = await readEditFacts(tx, context, organizationId, differing);
  const results = drafts.map((draft) => check(isGoneSkipped ? withoutGone(draft, facts) : draft, facts));
  const changed = results.filter(isChanged);
  await writeItems(tx, context, changed);
  await writeChannels(tx, context, changed);
  const changedIds = changed.map(({ item }) => item.id);
  await summarizeItems(tx, changedIds);
  const { stamps } = await projectItems(tx, context, {
    itemIds: clocksOfAll === null ? changedIds : lockedIds,
    integrationIds: null,
    clocks,
    // Within one transaction under the items' locks, units differ by this edit alone.
    isQuantityEdit: changed.some(({ new: values }) => values.units !== undefined),
  });
  return { results, touched: [...stamps.keys()] };
}

/** What `editItems` would do, without doing it: nothing is locked or written. */
export async function previewEdits(
  db: Queryable,
  context: ChannelContext,
  organizationId: string,
  items: StockValues[],
  decide: Decide,
): Promise<EditResult[]> {
  const drafts = items.map((item) => draftOf(item, decide));
  const facts = await readEditFacts(db, context, organizationId, drafts);
  return drafts.map((draft) => check(draft, facts));
}

export function isChanged(result: EditResult): boolean {
  return result.error === null && Object.keys(result.new).length > 0;
}

function draftOf(item: StockValues, decide: Decide): EditResult {
  const decided = decide(item);
  const none = { item, old: {}, new: {} };
  if (decided === null) return { ...none, changes: null, error: null };
  if (decided instanceof DomainError) return { ...none, changes: null, error: decided };
  return { item, changes: decided, error: null, ...differences(item, decided) };
}

/** Field by field; of attributes and channels only those that differ. */
function differences(item: StockValues, { attributes = {}, channels = {}, ...fields }: StockChanges) {
  const old: Values = {};
  const now: Values = {};
  for (const [name, value] of Object.entries(fields)) {
    const before = item[name as keyof typeof fields];
    if (value === undefined || isDeepStrictEqual(before, value)) continue;
    old[name] = before;
    now[name] = value;
  }
  addNested('attributes', item.attributes, attributes, null);
  addNested('channels', item.channels, channels, false);
  return { old, new: now };

  function addNested(name: string, before: Values, after: Values, absent: unknown): void {
    const names = Object.keys(after).filter((key) => !isDeepStrictEqual(before[key] ?? absent, after[key]));
    if (names.length === 0) return;
    old[name] = Object.fromEntries(names.map((key) => [key, before[key] ?? absent]));
    now[name] = Object.fromEntries(names.map((key) => [key, after[key]]));
  }
}

/** The draft without what refers to a location or channel that is gone. Being off such a channel needs no telling. */
function withoutGone(draft: EditResult, { locationsAndChannels }: EditFacts): EditResult {
  const { locationId } = draft.new;
  const isLocationGone = typeof locationId === 'string' && !locationsAndChannels.has(locationId);
  const channels = Object.entries((draft.new.channels ?? {}) as Record<string, boolean>);
  const goneChannels = channels.filter(([id]) => !locationsAndChannels.has(id));
  if (!isLocationGone && goneChannels.length === 0) return draft;
  const left = new Set([...(isLocationGone ? ['locationId'] : []), ...goneChannels.map(([id]) => id)]);
  const keep = (values: Values) => Object.fromEntries(Object.entries(values).filter(([name]) => !left.has(name)));
  const keepAll = ({ channels: inner, ...fields }: Values) => {
    const kept = keep((inner ?? {}) as Values);
    return { ...keep(fields), ...(Object.keys(kept).length === 0 ? {} : { channels: kept }) };
  };
  const gone: GoneField[] = [];
  if (isLocationGone) gone.push('locationId');
  if (goneChannels.some(([, isOn]) => isOn)) gone.push('channels');
  return { ...draft, old: keepAll(draft.old), new: keepAll(draft.new), gone };
}

/** The rules of `editItem`, for one of many. */
function check(draft: EditResult, facts: EditFacts): EditResult {
  if (draft.changes === null || draft.error !== null || Object.keys(draft.new).length === 0) return draft;
  try {
    const { isHidden: _, channels: __, ...fields } = draft.new;
    assertChanges(draft.item.kind, fields as ItemChanges);
    assertEdit(draft, facts);
    return draft;
  } catch (error) {
    if (error instanceof DomainError) return { ...draft, error, old: {}, new: {} };
    throw error;
  }
}

const ITEM_COLUMNS = {
  id: 'text',
  title: 'text',
  description: 'text',
  priceAmount: 'bigint',
  taxTreatment: 'text',
  locationId: 'text',
  serialNumber: 'text',
  costAmount: 'bigint',
  privateNotes: 'text',
  attributes: 'text',
  units: 'integer',
  isHidden: 'boolean',
  isEdited: 'boolean',
} as const;

async function writeItems(tx: Transaction, context: ChannelContext, changed: EditResult[]): Promise<void> {
  const rows = changed.map(({ item, new: { attributes, channels: _, ...fields } }) => ({
    ...item,
    ...fields,
    attributes: JSON.stringify({ ...item.attributes, ...(attributes as object | undefined) }),
    // The dealer enters the units that are free to sell. Units that orders hold stay held.
    units: Number(fields.units ?? item.units) + item.reservedUnits,
    // Toggles don't make a colleague's form stale.
    isEdited: attributes !== undefined || Object.keys(fields).some((name) => name !== 'isHidden'),
  }));
  await tx.query(sql`
    update items i set title = rows.title, description = rows.description, price_amount = rows.price_amount,
      tax_treatment = rows.tax_treatment, location_id = rows.location_id, serial_number = rows.serial_number,
      cost_amount = rows.cost_amount, private_notes = rows.private_notes, attributes = rows.attributes::jsonb,
      units = rows.units, is_hidden = rows.is_hidden,
      revision = case when rows.is_edited then i.revision + 1 else i.revision end,
      edited_at = case when rows.is_edited then ${transactionTime(context.now())} else i.edited_at end
    from ${unnestRows('rows', rows, ITEM_COLUMNS)} where i.id = rows.id`);
}

async function writeChannels(tx: Transaction, context: ChannelContext, changed: EditResult[]): Promise<void> {
  const wanted = changed.flatMap(({ item, new: values }) =>
    Object.entries((values.channels as Record<string, boolean> | undefined) ?? {}).map(([integrationId, isOn]) => ({
      itemId: item.id,
      integrationId,
      isOn,
    })),
  );
  for (const integrationId of new Set(wanted.map((one) => one.integrationId))) {
    const ids = (isOn: boolean) =>
      wanted.filter((one) => one.integrationId === integrationId && one.isOn === isOn).map(({ itemId }) => itemId);
    if (ids(true).length > 0) await switchOn(tx, context, integrationId, ids(true));
    if (ids(false).length > 0) await switchOff(tx, integrationId, ids(false));
  }
}

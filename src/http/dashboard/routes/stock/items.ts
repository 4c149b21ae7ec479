import type { previewItem } from '../../../../channel/projection/preview-item.ts';
import type { itemOperations } from '../../../../contract/dashboard/stock/items.ts';
import { DomainError } from '../../../../contract/domain-error.ts';
import { listChannels } from '../../../../dealers/integrations/integrations.ts';
import { assertNewItem, type ItemChanges, type NewItem } from '../../../../inventory/items/item-input.ts';
import { createItem, editItem, setHidden } from '../../../../inventory/items/item-operations.ts';
import { assertItem } from '../../../../inventory/items/read-item.ts';
import { listLocations } from '../../../../inventory/locations.ts';
import { addPhoto, orderPhotos, removePhoto, restorePhoto, rotatePhoto } from '../../../../inventory/photos/photos.ts';
import { changePromotion, endPromotion, startPromotion } from '../../../../inventory/promotions.ts';
import { moveUnits, releaseUnits, reserveUnits } from '../../../../inventory/units/movements.ts';
import { deleteItem } from '../../../../sales/delete-item.ts';
import { voidSale } from '../../../../sales/sell.ts';
import { clientSignal } from '../../../connection/client-signal.ts';
import { workWithoutIdleLimit } from '../../../connection/work-without-idle-limit.ts';
import { attemptOf } from '../../attempt-of.ts';
import type { Call, DashboardContext, Handlers, SignedIn } from '../../call.ts';
import { withUpload } from '../../limits/upload.ts';
import { presentChannels, readChoices, readItemPage } from '../../presenters/item-page.ts';

export const itemHandlers: Handlers<typeof itemOperations> = {
  async getItem({ context, user, params }) {
    return await readItemPage(context, user, params.item_id);
  },

  async getItemChoices({ context, user, query }) {
    return await readChoices(context, user, query.kind);
  },

  async createItem({ context, user, actor, body }) {
    const { kind } = body;
    assertCostAllowed(user, body);
    const input = { ...changesOf(body), kind } as NewItem;
    const id = await withWireFields(() => createItem(context.channel, actor, user.organizationId, input));
    notify(context, user, id);
    return { id };
  },

  async saveItem({ context, user, actor, params, body }) {
    const { revision, units_from: unitsFrom } = body;
    const basis = { revision, ...(unitsFrom === undefined ? {} : { units: unitsFrom }) };
    assertCostAllowed(user, body);
    const changes = changesOf(body);
    const saved = await withWireFields(() =>
      editItem(context.channel, actor, user.organizationId, params.item_id, changes, basis),
    );
    notify(context, user, params.item_id);
    return { revision: saved.revision, audit_id: saved.auditId };
  },

  async previewItem({ context, user, body }) {
    const { kind, preview_of_id: id, location_id: locationId, ...fields } = body;
    const changes = changesOf(fields);
    await withWireFields(async () => assertNewItem({ ...changes, kind, locationId } as NewItem));
    const locations = await listLocations(context.db, user.organizationId);
    const location = locations.find((one) => one.id === locationId);
    const draft = {
      ...changes,
      location: location === undefined ? null : { business_unit: location.businessUnit, name: location.name },
    } as Parameters<typeof previewItem>[4];
    return { channels: await presentChannels(context, user, id === null ? { kind } : { id, kind }, draft) };
  },

  async setItemHidden({ context, user, actor, params, body }) {
    const { organizationId } = user;
    const auditId = await setHidden(context.channel, actor, organizationId, [params.item_id], body.is_hidden);
    notify(context, user, params.item_id);
    return { audit_id: auditId };
  },

  async deleteItem({ context, user, actor, params }) {
    await deleteItem(context.channel, actor, user.organizationId, params.item_id);
    notify(context, user, params.item_id);
    return null;
  },

  async voidItemSale({ context, user, actor, params }) {
    await voidSale(context.channel, actor, user.organizationId, params.sale_id, params.item_id);
    notify(context, user, params.item_id);
    context.dashboard.feed.notify(user.organizationId, 'sale', [params.sale_id]);
    return null;
  },

  async moveItemUnits({ context, user, actor, params, body }) {
    const { movement, units } = body;
    const attempt = attemptOf(body, params);
    const item = [context.channel, actor, user.organizationId, params.item_id] as const;
    if (movement === 'reserve') await reserveUnits(...item, units, attempt);
    else if (movement === 'release') await releaseUnits(...item, units, attempt);
    else await moveUnits(...item, movement, units, attempt);
    notify(context, user, params.item_id);
    return null;
  },

  async startItemPromotion({ context, user, actor, params, body, countStorage }) {
    const input = promotionOf(context, body);
    const id = await withWireFields(() =>
      startPromotion(context.channel, actor, user.organizationId, params.item_id, input),
    );
    await countStorage(await promotionBytes(context, user));
    notify(context, user, params.item_id);
    return { id };
  },

  async changeItemPromotion({ context, user, actor, params, body, countStorage }) {
    const { item_id: itemId, promotion_id: promotionId } = params;
    const input = promotionOf(context, body);
    await withWireFields(() =>
      changePromotion(context.channel, actor, user.organizationId, promotionId, input, itemId),
    );
    await countStorage(await promotionBytes(context, user));
    notify(context, user, params.item_id);
    return null;
  },

  async endItemPromotion({ context, user, actor, params }) {
    const { item_id: itemId, promotion_id: promotionId } = params;
    await endPromotion(context.channel, actor, user.organizationId, promotionId, itemId);
    notify(context, user, params.item_id);
    return null;
  },

  async addItemPhoto({ context, user, actor, params, request, assertAdmitted }) {
    // The item is checked before the file is read, so that nobody uploads 25 MB for an item that does not exist.
    await assertItem(context.db, user.organizationId, params.item_id);
    // Nobody waits for the photo of somebody who has gone: it would keep its slot while the storage does not answer.
    const signal = clientSignal(request);
    const id = await withUpload({ request, user, context, assertAdmitted }, (bytes) => {
      workWithoutIdleLimit(request);
      return addPhoto(photoContext(context), actor, user.organizationId, params.item_id, bytes, { signal });
    });
    notify(context, user, params.item_id);
    return { id };
  },

  async orderItemPhotos({ context, user, actor, params, body }) {
    const { item_id: itemId } = params;
    const auditId = await orderPhotos(context.channel, actor, user.organizationId, itemId, body.photo_ids);
    notify(context, user, itemId);
    return { audit_id: auditId };
  },

  async rotateItemPhoto({ context, user, actor, params, request }) {
    const { item_id: itemId, photo_id: photoId } = params;
    const wait = { signal: clientSignal(request) };
    workWithoutIdleLimit(request);
    const id = await rotatePhoto(photoContext(context), actor, user.organizationId, itemId, photoId, wait);
    notify(context, user, itemId);
    return { id };
  },

  async removeItemPhoto({ context, user, actor, params }) {
    const { item_id: itemId, photo_id: photoId } = params;
    const auditId = await removePhoto(context.channel, actor, user.organizationId, itemId, photoId);
    notify(context, user, itemId);
    return { audit_id: auditId };
  },

  async restoreItemPhoto({ context, user, actor, params }) {
    await restorePhoto(context.channel, actor, user.organizationId, params.item_id, params.photo_id);
    notify(context, user, params.item_id);
    return null;
  },
};

function notify(context: DashboardContext, user: SignedIn, itemId: string): void {
  context.dashboard.feed.notify(user.organizationId, 'item', [itemId]);
  context.dashboard.feed.notify(user.organizationId, 'audit', null);
}

function photoContext(context: DashboardContext) {
  return { ...context.channel, photoFiles: context.dashboard.photoFiles };
}

/** The domain's names of the fields that people type, and those on the wire. */
const FIELDS = {
  stockNumber: 'stock_number',
  title: 'title',
  description: 'description',
  priceAmount: 'price_amount',
  taxTreatment: 'tax_treatment',
  locationId: 'location_id',
  attributes: 'attributes',
  serialNumber: 'serial_number',
  costAmount: 'cost_amount',
  privateNotes: 'private_notes',
  units: 'units',
} as const;
const OTHER_FIELDS: Record<string, string> = { startsAt: 'starts_at', endsAt: 'ends_at' };

type WireFields = { [Name in (typeof FIELDS)[keyof typeof FIELDS]]?: unknown };

/** People who may not see the cost price may not set it, because they would overwrite it unseen. */
function assertCostAllowed({ seesCost }: SignedIn, body: WireFields): void {
  if (body.cost_amount === undefined || seesCost) return;
  throw new DomainError('not_allowed', 'Only owners may set the cost price.', 'cost_amount');
}

function changesOf(body: WireFields): ItemChanges {
  const given = Object.entries(FIELDS).filter(([, wire]) => body[wire] !== undefined);
  return Object.fromEntries(given.map(([name, wire]) => [name, body[wire]])) as ItemChanges;
}

/** A refusal uses the form's name of the field. */
async function withWireFields<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof DomainError) || error.field === undefined) throw error;
    const names: Record<string, string> = { ...FIELDS, ...OTHER_FIELDS };
    const field = names[error.field];
    throw field === undefined ? error : new DomainError(error.code, error.message, field, { cause: error });
  }
}

/** The most that an event of an item takes: a description of 20,000 characters, of three bytes each. */
const EVENT_BYTES = 65_536;

/**
 * What a promotion will store when its time comes, with nobody there who could be refused: an event for its start and one for
 * its end, on each channel.
 */
async function promotionBytes({ db }: DashboardContext, { organizationId }: SignedIn): Promise<number> {
  return 2 * EVENT_BYTES * (await listChannels(db, organizationId)).length;
}

type PromotionBody = Call<(typeof itemOperations)['startItemPromotion']>['body'];

function promotionOf(context: DashboardContext, body: PromotionBody) {
  return {
    priceAmount: body.price_amount,
    startsAt: body.starts_at === null ? (context.channel.now() ?? new Date()) : new Date(body.starts_at),
    endsAt: body.ends_at === null ? null : new Date(body.ends_at),
  };
}

import type { Actor } from '../../audit/actor.ts';
import { recordAudit } from '../../audit/record-audit.ts';
import type { ChannelContext } from '../../channel/context.ts';
import { enqueueJob } from '../../channel/jobs/channel-job-queue.ts';
import type { ImageFormat } from '../../channel/projection/documents.ts';
import { ROUNDINGS, type Rounding } from '../../channel/projection/pricing.ts';
import { MARKUP_MAX_BASIS_POINTS, MARKUP_MIN_BASIS_POINTS } from '../../contract/dashboard/limits.ts';
import { DomainError } from '../../contract/domain-error.ts';
import type { Queryable } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { checkedCurrency } from '../input-rules.ts';
import { lockRatesShared } from '../rates/exchange-rates.ts';
import { assertRates, type RateOptions } from '../rates/missing-rates.ts';

export const IMAGE_FORMATS: readonly ImageFormat[] = ['original', 'jpeg', 'webp', 'avif'];

/** How a channel shows prices and photos. */
export type PresentationSettings = {
  currency: string;
  markupBasisPoints: number;
  rounding: Rounding;
  imageFormat: ImageFormat;
};

export type Presentation = PresentationSettings & { integrationId: string; organizationId: string | null };

export async function findPresentation(db: Queryable, integrationId: string): Promise<Presentation | null> {
  const [row] = await db.query<Presentation>(sql`
    select id as "integrationId", organization_id as "organizationId", currency,
      markup_basis_points as "markupBasisPoints", rounding, image_format as "imageFormat"
    from integrations where id = ${integrationId}`);
  return row ?? null;
}

/** Changes how a channel shows every item; a job carries it into the documents. */
export async function changePresentation(
  context: ChannelContext,
  actor: Actor,
  organizationId: string,
  integrationId: string,
  changes: Partial<PresentationSettings>,
  options: RateOptions = {},
): Promise<void> {
  assertPresentation(changes);
  const currency = changes.currency === undefined ? null : checkedCurrency(changes.currency);
  await context.db.transaction(async (tx) => {
    if (currency !== null) await lockRatesShared(tx);
    const [old] = await tx.query<PresentationSettings>(sql`
      select currency, markup_basis_points as "markupBasisPoints", rounding, image_format as "imageFormat"
      from integrations where id = ${integrationId} and organization_id = ${organizationId} for no key update`);
    if (old === undefined) throw new DomainError('not_found', 'There is no such integration.');
    await tx.query(sql`
      update integrations set
        currency = coalesce(${currency}, currency),
        markup_basis_points = coalesce(${changes.markupBasisPoints ?? null}, markup_basis_points),
        rounding = coalesce(${changes.rounding ?? null}, rounding),
        image_format = coalesce(${changes.imageFormat ?? null}, image_format)
      where id = ${integrationId}`);
    if (currency !== null) await assertRates(tx, [integrationId], options);
    await recordAudit(tx, actor, {
      organizationId,
      action: 'integration.presentation_changed',
      object: { kind: 'integration', id: integrationId },
      old,
      new: { ...changes, currency: currency ?? old.currency },
    });
    const settings: Partial<PresentationSettings> = { ...changes, ...(currency === null ? {} : { currency }) };
    const names = Object.keys(settings) as (keyof PresentationSettings)[];
    // What is as it was changes no document, and would only make a job start over.
    const changed = names.filter((name) => settings[name] !== undefined && settings[name] !== old[name]);
    if (changed.length > 0) await enqueueJob(tx, 'refresh', [integrationId], changed.join(', '));
  });
}

function assertPresentation(changes: Partial<PresentationSettings>): void {
  const { markupBasisPoints: markup, rounding, imageFormat } = changes;
  if (markup !== undefined) {
    if (!Number.isInteger(markup) || markup < MARKUP_MIN_BASIS_POINTS || markup > MARKUP_MAX_BASIS_POINTS) {
      throw new DomainError('invalid_input', 'The markup must be from -99 % to 1000 %.', 'markupBasisPoints');
    }
  }
  if (rounding !== undefined && !ROUNDINGS.includes(rounding)) {
    throw new DomainError('invalid_input', 'There is no such rounding.', 'rounding');
  }
  if (imageFormat !== undefined && !IMAGE_FORMATS.includes(imageFormat)) {
    throw new DomainError('invalid_input', 'There is no such image format.', 'imageFormat');
  }
}

import Type from 'typebox';
import { valuesOf } from '../enumerations.ts';
import {
  afterParameter,
  idsParameter,
  ListWithMissing,
  limitParameter,
  listExample,
  statusParameter,
  updatedAfterParameter,
} from '../resources/list.ts';
import { Listing, listingExample } from '../resources/listing.ts';
import { Part, partExample } from '../resources/part.ts';
import { type Operation, read } from './operation.ts';

export const itemOperations = {
  listListings: read({
    id: 'listListings',
    path: '/v1/listings',
    tag: 'Listings',
    summary: 'List listings',
    description:
      'Newest change first (`updated_at`, then `id`, descending). A plain list holds what can be sold now. With `updated_after` it holds every status, so that a client that keeps the newest `updated_at` it saw never misses a change. With `ids` it holds these listings instead, in the order asked and in every status.',
    query: Type.Object({
      limit: limitParameter,
      after: afterParameter,
      updated_after: updatedAfterParameter,
      status: statusParameter(valuesOf('listing_status'), '`active`, or every status with `updated_after`'),
      ids: idsParameter(listingExample.id),
    }),
    hasEtag: true,
    success: {
      status: 200,
      description: 'A page of listings.',
      schema: ListWithMissing(Listing, 'ListingList'),
      example: listExample(listingExample),
    },
    errors: ['invalid_cursor', 'query_failed'],
  }),
  getListing: read({
    id: 'getListing',
    path: '/v1/listings/{id}',
    tag: 'Listings',
    summary: 'Read a listing',
    description: 'One listing, also when it is sold, reserved or unpublished, as long as it is or was on the channel.',
    params: Type.Object({ id: Type.String({ description: 'Id of the listing.', examples: [listingExample.id] }) }),
    hasEtag: true,
    success: { status: 200, description: 'The listing.', schema: Listing, example: listingExample },
    errors: ['listing_not_found', 'query_failed'],
  }),
  listParts: read({
    id: 'listParts',
    path: '/v1/parts',
    tag: 'Parts',
    summary: 'List parts',
    description:
      'Newest change first. A plain list holds what can be sold now; with `updated_after` it holds every status. A part that was taken off the channel is in no list: its removal is an event. With `ids` the list holds these parts instead, in the order asked and in every status.',
    query: Type.Object({
      limit: limitParameter,
      after: afterParameter,
      updated_after: updatedAfterParameter,
      status: statusParameter(valuesOf('part_status'), '`active`, or every status with `updated_after`'),
      ids: idsParameter(partExample.id),
    }),
    hasEtag: true,
    success: {
      status: 200,
      description: 'A page of parts.',
      schema: ListWithMissing(Part, 'PartList'),
      example: listExample(partExample),
    },
    errors: ['invalid_cursor', 'query_failed'],
  }),
  getPart: read({
    id: 'getPart',
    path: '/v1/parts/{id}',
    tag: 'Parts',
    summary: 'Read a part',
    description: 'One part, also when it is sold out or hidden, while it is on the channel.',
    params: Type.Object({ id: Type.String({ description: 'Id of the part.', examples: [partExample.id] }) }),
    hasEtag: true,
    success: { status: 200, description: 'The part.', schema: Part, example: partExample },
    errors: ['part_not_found', 'query_failed'],
  }),
} as const satisfies Record<string, Operation>;

import Type from 'typebox';
import { operation } from './operation.ts';

const SEARCH_LENGTH_LIMIT = 200;

/** What a search over everything can find. A page for each is in dashboard/src/paths.ts. */
const FOUND_KINDS = ['watch', 'part', 'order', 'customer', 'integration', 'event', 'delivery', 'request'] as const;
export type FoundKind = (typeof FOUND_KINDS)[number];

export const Found = Type.Object(
  {
    kind: Type.Unsafe<FoundKind>({ type: 'string', enum: [...FOUND_KINDS] }),
    id: Type.String({ description: 'Its prefix says which page shows it.' }),
    title: Type.String(),
    detail: Type.String(),
    photo_url: Type.Union([Type.String(), Type.Null()]),
  },
  { $id: 'Found' },
);

export const searchOperations = {
  search: operation({
    method: 'GET',
    path: '/search',
    access: 'staff',
    description:
      'Finds anything of this dealer by an id, a stock number, a reference, words of a title, the order number of a website, the email address or number of a customer.',
    query: Type.Object({ q: Type.String({ minLength: 1, maxLength: SEARCH_LENGTH_LIMIT }) }),
    response: Type.Object({ data: Type.Array(Found) }),
  }),
};

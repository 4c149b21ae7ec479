import Type from 'typebox';
import { EXPECTED_ANNOTATION } from '../openapi/openapi-schemas.ts';
import { operation } from './operation.ts';

/** The lists of the dashboard that have views. */
export const VIEW_LISTS = [
  'watches',
  'parts',
  'orders',
  'sales',
  'customers',
  'deliveries',
  'events',
  'requests',
  'jobs',
  'audit',
] as const;
export type ViewList = (typeof VIEW_LISTS)[number];

export const VIEW_NAME_LENGTH_LIMIT = 80;
const VIEW_QUERY_LENGTH_LIMIT = 2_000;

const List = Type.Unsafe<ViewList>({
  type: 'string',
  enum: VIEW_LISTS,
  [EXPECTED_ANNOTATION]: 'the name of a list, such as watches',
  description: 'The list it belongs to, such as `watches`.',
});
const Name = Type.String({ minLength: 1, maxLength: VIEW_NAME_LENGTH_LIMIT });
const Query = Type.String({
  maxLength: VIEW_QUERY_LENGTH_LIMIT,
  // One line without control characters, because it becomes part of a URL.
  pattern: '^[^\\u0000-\\u001f\\u007f]*$',
  [EXPECTED_ANNOTATION]: 'a text without control characters',
  description: 'The query of the list’s address: search, filters, order, layout and columns.',
});

export const SavedView = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    query: Type.String(),
    is_shared: Type.Boolean(),
    is_mine: Type.Boolean(),
    can_change: Type.Boolean({ description: 'Whoever saved it and, if it is shared, owners.' }),
    saved_by: Type.Union([Type.String(), Type.Null()], { description: 'Null when that person has left the team.' }),
  },
  { $id: 'SavedView' },
);

const viewParameter = Type.Object({ view_id: Type.String() });

export const viewOperations = {
  listViews: operation({
    method: 'GET',
    path: '/views',
    access: 'staff',
    description: 'The saved views of a list: mine, and those that the team shares.',
    query: Type.Object({ list: List }),
    response: Type.Object({ data: Type.Array(SavedView) }),
  }),
  createView: operation({
    method: 'POST',
    path: '/views',
    access: 'staff',
    description: 'Saves what a list shows under a name.',
    body: Type.Object({ list: List, name: Name, query: Query, is_shared: Type.Boolean() }),
    response: Type.Object({ id: Type.String() }),
  }),
  changeView: operation({
    method: 'PATCH',
    path: '/views/{view_id}',
    access: 'staff',
    description: 'Renames a view, shares it or makes it private, or stores what the list shows now.',
    params: viewParameter,
    body: Type.Object({
      name: Type.Optional(Name),
      query: Type.Optional(Query),
      is_shared: Type.Optional(Type.Boolean()),
    }),
    response: null,
  }),
  deleteView: operation({
    method: 'DELETE',
    path: '/views/{view_id}',
    access: 'staff',
    description: 'Deletes a view. What it showed stays as it is.',
    params: viewParameter,
    response: null,
  }),
};

import Type, { type TSchema } from 'typebox';
import { PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX, READ_IDS_LIMIT } from '../limits.ts';
import { Nullable } from './common.ts';

/** The envelope of every list. */
export function ListOf<Item extends TSchema>(item: Item, name: string) {
  return Type.Object(envelopeFields(item), { $id: name });
}

/** The envelope of a list that can also be read by `ids`. */
export function ListWithMissing<Item extends TSchema>(item: Item, name: string) {
  return Type.Object(
    {
      ...envelopeFields(item),
      missing: Type.Optional(
        Type.Array(Type.String(), {
          maxItems: READ_IDS_LIMIT,
          description: 'Only with `ids`: those under which you can read nothing, in the order asked.',
        }),
      ),
    },
    { $id: name },
  );
}

function envelopeFields<Item extends TSchema>(item: Item) {
  return {
    object: Type.Literal('list'),
    data: Type.Array(item, { description: 'Up to `limit` objects.' }),
    has_more: Type.Boolean({ description: 'True when more rows exist beyond this page.' }),
    next_cursor: Nullable(Type.String(), 'Pass it as `after` for the next page; null on the last.'),
  };
}

export function listExample(item: unknown) {
  return { object: 'list', data: [item], has_more: false, next_cursor: null };
}

export const limitParameter = Type.Optional(
  Type.Integer({
    minimum: 1,
    maximum: PAGE_LIMIT_MAX,
    default: PAGE_LIMIT_DEFAULT,
    description: 'How many objects a page holds at most.',
    examples: [PAGE_LIMIT_DEFAULT],
  }),
);

export const afterParameter = Type.Optional(
  Type.String({ description: '`next_cursor` of the page before, unchanged. Cursors do not expire.' }),
);

export const updatedAfterParameter = Type.Optional(
  Type.String({
    description:
      'ISO 8601 time with any offset, or a plain date. Keeps rows whose `updated_at` is later, of every status unless `status` says otherwise.',
    examples: ['2026-05-08T09:00:00.123Z'],
  }),
);

export function statusParameter(values: readonly string[], fallback: string) {
  return Type.Optional(
    Type.String({
      description: `A comma-separated list of ${values.map((value) => `\`${value}\``).join(', ')}, or \`any\`. Without it: ${fallback}.`,
      examples: [values.slice(0, 2).join(',')],
    }),
  );
}

export function idsParameter(example: string) {
  return Type.Optional(
    Type.String({
      description: `1 to ${READ_IDS_LIMIT} ids, separated by commas that are not escaped: read these, whatever their status, for one token. Those that you can't read are in \`missing\`. Not together with \`limit\`, \`after\`, \`updated_after\` or \`status\`.`,
      examples: [example],
    }),
  );
}

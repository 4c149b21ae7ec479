import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { api } from '../../../api/client.ts';
import type { Kind } from '../../stock/stock-queries.ts';
import type { ItemValues } from './item-form.ts';
import { problemsOf } from './item-problems.ts';

const TYPING_MS = 400;

/** What each site would read of what is typed. A draft that could not be saved has none; the last one stays. */
export function usePreview(kind: Kind, itemId: string | null, values: ItemValues, isWanted: boolean) {
  const [draft] = useDebouncedValue(values, TYPING_MS);
  const { serial_number: _serial, cost_amount: _cost, private_notes: _notes, units, ...fields } = draft;
  const body = { kind, preview_of_id: itemId, ...fields, units: units ?? 0 };
  const query = useQuery({
    queryKey: ['preview', body],
    queryFn: () => api('POST /items/preview', { body }),
    // What can't be saved has no preview, and the fields say why.
    enabled: isWanted && Object.keys(problemsOf(kind, draft)).length === 0,
    retry: false,
    placeholderData: keepPreviousData,
  });
  return { data: isWanted ? query.data : undefined, error: query.error };
}

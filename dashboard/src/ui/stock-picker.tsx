import { Button, Skeleton, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useState } from 'react';
import type { Output } from '../api/client.ts';
import { read, useKeptQuery } from '../api/queries.ts';
import { formatMoney, formatNumber } from '../format.ts';
import { useFocusAtStart } from './fields/focus-at-start.ts';
import { Icon } from './icons.tsx';
import { Thumbnail } from './thumbnail.tsx';

export type StockChoice = Output<'GET /stock'>['data'][number];

const TYPING_PAUSE_MS = 250;
const SHOWN_LIMIT = 8;

type StockPickerProps = {
  /** On the button of each item. */
  verb: string;
  unitsWanted: number;
  isBusy: boolean;
  onChoose: (item: StockChoice) => void;
};

/** Finds a watch or a part in the stock. What has too few free units is shown with that reason. */
export function StockPicker({ verb, unitsWanted, isBusy, onChoose }: StockPickerProps) {
  const search = useFocusAtStart();
  const [text, setText] = useState('');
  const [q] = useDebouncedValue(text.trim(), TYPING_PAUSE_MS);
  // A row that is found again is kept: otherwise a click at that moment would miss its button.
  const watches = useKeptQuery(stockSearch('listing', q));
  const parts = useKeptQuery(stockSearch('part', q));
  const found = [...(watches.data?.data ?? []), ...(parts.data?.data ?? [])];
  const isReading = watches.isPending || parts.isPending;
  return (
    <div>
      <TextInput
        ref={search}
        type="search"
        label="Search your stock"
        placeholder="Stock number, reference, brand or title"
        leftSection={<Icon name="search" size={14} />}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        data-autofocus
      />
      {isReading ? (
        <Skeleton height={120} mt="sm" />
      ) : found.length === 0 ? (
        <Text size="sm" c="dimmed" mt="sm">
          Nothing in your stock matches.
        </Text>
      ) : (
        <ul className="suggestions" aria-label="Items found">
          {found.map((item) => (
            <PickerRow key={item.id} item={item} {...{ verb, unitsWanted, isBusy, onChoose }} />
          ))}
        </ul>
      )}
    </div>
  );
}

function stockSearch(kind: 'listing' | 'part', q: string) {
  return read('GET /stock', { query: { kind, limit: SHOWN_LIMIT, ...(q === '' ? {} : { q }) } }, ['item']);
}

function PickerRow({ item, verb, unitsWanted, isBusy, onChoose }: StockPickerProps & { item: StockChoice }) {
  const free = item.units - item.reserved_units;
  const reason = free >= unitsWanted ? null : free === 0 ? noneLeft(item) : `Only ${formatNumber(free)} free`;
  return (
    <li>
      <Thumbnail url={item.thumbnail_url} kind={item.kind} size={40} />
      <div className="suggestion-name">
        <Text size="sm" truncate>
          {item.title}
        </Text>
        <Text size="xs" c="dimmed" truncate>
          {[
            item.stock_number,
            item.price === null ? 'Price on request' : formatMoney(item.price.amount, item.price.currency),
            reason ?? (free === 1 ? '' : `${formatNumber(free)} free`),
          ]
            .filter((part) => part !== '')
            .join(' · ')}
        </Text>
      </div>
      <Button
        variant="default"
        size="compact-sm"
        aria-label={`${verb} ${item.title}`}
        disabled={reason !== null || isBusy}
        title={reason ?? undefined}
        onClick={() => onChoose(item)}
      >
        {verb}
      </Button>
    </li>
  );
}

function noneLeft({ status }: StockChoice): string {
  return status === 'sold' ? 'Sold' : 'Reserved';
}

import { Group, Text, Tooltip } from '@mantine/core';
import { STOCK_STATUS_LABELS } from '../../../../src/contract/dashboard/stock/stock.ts';
import { formatMoney, formatNumber } from '../../format.ts';
import { Status, type Tone } from '../../ui/status.tsx';
import { Thumbnail } from '../../ui/thumbnail.tsx';
import type { StockItem } from './stock-queries.ts';

const TONES: Record<StockItem['status'], Tone> = { in_stock: 'good', reserved: 'warn', sold: 'off' };

export function ItemCell({ item }: { item: StockItem }) {
  return (
    <Group gap="xs" wrap="nowrap">
      <Thumbnail kind={item.kind} url={item.thumbnail_url} />
      <div className="item-name">
        <Text size="sm" fw={600} truncate className="row-name">
          {item.title}
        </Text>
        <Text size="xs" c="dimmed" truncate>
          {[item.brand, item.reference].filter((text) => text !== null).join(' · ')}
        </Text>
      </div>
    </Group>
  );
}

export function StatusCell({ item }: { item: StockItem }) {
  const word = item.kind === 'part' && item.status === 'sold' ? 'Sold out' : STOCK_STATUS_LABELS[item.status];
  return item.is_hidden ? (
    <Status tone="off">{`${word}, hidden`}</Status>
  ) : (
    <Status tone={TONES[item.status]}>{word}</Status>
  );
}

export function PriceCell({ item }: { item: StockItem }) {
  if (item.price === null) {
    return (
      <Text component="span" size="sm" c="dimmed">
        on request
      </Text>
    );
  }
  const { amount, currency } = item.price;
  if (item.promotion_amount === null) return formatMoney(amount, currency);
  return (
    <span title="A promotion runs now.">
      {formatMoney(item.promotion_amount, currency)}{' '}
      <Text component="s" size="xs" c="dimmed" className="price-before">
        {formatMoney(amount, currency)}
      </Text>
    </span>
  );
}

export function UnitsCell({ item }: { item: StockItem }) {
  const free = item.units - item.reserved_units;
  return item.reserved_units === 0 ? formatNumber(free) : `${formatNumber(free)} (${item.reserved_units} held)`;
}

/** What a buyer would miss, as a number with its words. */
export function CompletenessCell({ item }: { item: StockItem }) {
  const { missing } = item;
  if (missing.length === 0) return <Status tone="good">Complete</Status>;
  const words = missing.map((field) => field.replaceAll('_', ' ')).join(', ');
  return (
    <Tooltip label={`Missing: ${words}`}>
      <span>
        <Status tone="warn">{missing.length === 1 ? `${words} missing` : `${missing.length} missing`}</Status>
      </span>
    </Tooltip>
  );
}

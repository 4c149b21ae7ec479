import type { Column } from '../../table/columns.ts';
import { Nothing } from '../../ui/nothing.tsx';
import { Time } from '../../ui/time.tsx';
import { ChannelToggle } from './channel-toggle.tsx';
import { CompletenessCell, ItemCell, PriceCell, StatusCell, UnitsCell } from './stock-cells.tsx';
import type { StockChoices, StockItem } from './stock-queries.ts';

/** The columns of the lists of watches and parts; one for each channel, with its toggle. */
export function stockColumns({ channels }: StockChoices): Column<StockItem>[] {
  return [
    { id: 'title', header: 'Item', isSortable: true, isTitle: true, cell: (item) => <ItemCell item={item} /> },
    {
      id: 'stock_number',
      header: 'Stock number',
      isSortable: true,
      phone: 'none',
      cell: (item) => <code>{item.stock_number}</code>,
    },
    { id: 'status', header: 'Status', cell: (item) => <StatusCell item={item} /> },
    { id: 'price', header: 'Price', align: 'right', isSortable: true, cell: (item) => <PriceCell item={item} /> },
    ...channels.map((channel) => ({
      id: channel.integration_id,
      header: channel.is_test_mode ? `${channel.name} (test)` : channel.name,
      cell: (item: StockItem) => <ChannelToggle item={item} channel={channel} />,
      phoneCell: (item: StockItem) => <ChannelToggle item={item} channel={channel} isNamed />,
    })),
    { id: 'units', header: 'Units', align: 'right', phone: 'none', cell: (item) => <UnitsCell item={item} /> },
    {
      id: 'location',
      header: 'Location',
      phone: 'none',
      cell: (item) => (item.location === null ? <Nothing /> : <LocationCell name={item.location.name} />),
    },
    {
      id: 'created',
      header: 'In stock since',
      isSortable: true,
      phone: 'none',
      cell: (item) => <Time at={item.created_at} />,
    },
    { id: 'missing', header: 'Completeness', phone: 'none', cell: (item) => <CompletenessCell item={item} /> },
  ];
}

function LocationCell({ name }: { name: string }) {
  return (
    <span className="clipped" title={name}>
      {name}
    </span>
  );
}

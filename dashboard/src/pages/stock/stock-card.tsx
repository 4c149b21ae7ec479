import { Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { paths } from '../../paths.ts';
import { Icon } from '../../ui/icons.tsx';
import { ChannelToggle } from './channel-toggle.tsx';
import { PriceCell, StatusCell } from './stock-cells.tsx';
import type { StockChoices, StockItem } from './stock-queries.ts';

/** A watch or a part as dealers recognise it: its photo first. */
export function StockCard({ item, channels }: { item: StockItem; channels: StockChoices['channels'] }) {
  return (
    <>
      <Link to={paths.item(item.id)} className="row-link">
        {item.photo_url === null ? (
          <span className="card-photo">
            <Icon name={item.kind === 'part' ? 'part' : 'watch'} size={48} />
          </span>
        ) : (
          <img className="card-photo" src={item.photo_url} alt="" loading="lazy" width={480} height={480} />
        )}
        <span className="card-body">
          <Text component="span" size="sm" fw={600} lineClamp={2} className="row-name">
            {item.title}
          </Text>
          <Text component="span" size="xs" c="dimmed" truncate>
            {[item.reference, item.stock_number].filter((text) => text !== null).join(' · ')}
          </Text>
          <span className="card-line">
            <Text component="span" size="sm" fw={600} className="figures">
              <PriceCell item={item} />
            </Text>
            <StatusCell item={item} />
          </span>
        </span>
      </Link>
      {channels.length === 0 ? null : (
        <div className="card-channels">
          {channels.map((channel) => (
            <ChannelToggle key={channel.integration_id} item={item} channel={channel} isNamed />
          ))}
        </div>
      )}
    </>
  );
}

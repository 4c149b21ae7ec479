import { Tabs, Text } from '@mantine/core';
import { formatCount } from '../../format.ts';

type ListTabsProps = {
  label: string;
  tabs: readonly { id: string; label: string }[];
  /** Null while the filters show what no tab does. */
  current: string | null;
  counts: Record<string, { value: number; is_capped: boolean }>;
  onOpen: (id: string) => void;
};

/** The tabs above a list, each with how many rows it holds. */
export function ListTabs({ label, tabs, current, counts, onOpen }: ListTabsProps) {
  return (
    <Tabs value={current} onChange={(id) => id !== null && onOpen(id)} mb="sm">
      <Tabs.List aria-label={label} className="scrolling-tabs">
        {tabs.map((tab) => (
          <Tabs.Tab key={tab.id} value={tab.id} rightSection={<TabCount count={counts[tab.id]} />}>
            {tab.label}
          </Tabs.Tab>
        ))}
      </Tabs.List>
    </Tabs>
  );
}

function TabCount({ count }: { count: { value: number; is_capped: boolean } | undefined }) {
  if (count === undefined || count.value === 0) return null;
  return (
    <Text component="span" size="xs" c="dimmed">
      {formatCount(count)}
    </Text>
  );
}

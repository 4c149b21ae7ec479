import { useDebouncedValue } from '@mantine/hooks';
import { Spotlight, type SpotlightActionData, type SpotlightActionGroupData } from '@mantine/spotlight';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { type KeyboardEvent, useState } from 'react';
import type { Output } from '../../api/client.ts';
import { read } from '../../api/queries.ts';
import { pathOfId, paths } from '../../paths.ts';
import { Icon, type IconName } from '../../ui/icons.tsx';
import { NAVIGATION } from './navigation.ts';

type Found = Output<'GET /search'>['data'][number];

type Action = { id: string; label: string; path: string; search?: Record<string, string>; keywords?: string };

/** Actions that are no page of the navigation. Whoever brings one adds it here; one without a page is left out. */
const ACTIONS: Action[] = [
  { id: 'new-watch', label: 'New watch', path: paths.newItem('listing'), keywords: 'add create listing' },
  { id: 'new-part', label: 'New part', path: paths.newItem('part'), keywords: 'add create' },
  {
    id: 'record-sale',
    label: 'Record a sale',
    path: paths.sales(),
    search: { record: 'yes' },
    keywords: 'sell sold counter new',
  },
  { id: 'import', label: 'Import stock', path: paths.import(), keywords: 'csv file upload' },
  { id: 'new-integration', label: 'New integration', path: paths.newIntegration(), keywords: 'website key webhook' },
  { id: 'business', label: 'Business details', path: paths.business(), keywords: 'settings address tax time zone' },
  { id: 'locations', label: 'Locations', path: paths.locations(), keywords: 'settings business units' },
  { id: 'team', label: 'Team', path: paths.team(), keywords: 'settings people invite roles' },
  { id: 'account', label: 'My account', path: paths.account(), keywords: 'settings password sessions' },
];

const TYPING_PAUSE_MS = 150;
const MIN_LENGTH = 2;
const SHOWN_LIMIT = 30;
/** Numbers of orders have a digit. */
const ORDER_LIKE = /\d/;

const ICONS: Record<Found['kind'], IconName> = {
  watch: 'watch',
  part: 'part',
  order: 'order',
  customer: 'customer',
  integration: 'integration',
  event: 'event',
  delivery: 'delivery',
  request: 'request',
};

/** Ctrl-K: pages, actions, and whatever an id, a number or words name. */
export function Palette() {
  const router = useRouter();
  const [query, setQuery] = useState('');
  const text = query.trim();
  const isPage = (path: string | null): path is string =>
    path !== null && router.getMatchedRoutes(path)[2] !== undefined;
  const goTo =
    (path: string, search: Record<string, string> = {}) =>
    () =>
      void router.navigate({ to: path, search: search as never });
  const search = useFound(text);
  const found = search.found.filter(({ id }) => isPage(pathOfId(id)));
  const idPath = pathOfId(text);
  const isMeant = (...words: string[]) => words.some((word) => word.toLowerCase().includes(text.toLowerCase()));

  const refusedRequests = {
    id: 'refused-requests',
    label: 'An order of a website never arrived? See its refused requests',
    leftSection: <Icon name="request" />,
    onClick: () => void router.navigate({ to: paths.requests(), search: { status: '4xx' } as never }),
  };
  const isMissing = search.state === 'done' && found.length === 0 && !isPage(idPath) && ORDER_LIKE.test(text);

  const groups: SpotlightActionGroupData[] = [
    { group: 'Search', actions: search.state === 'failed' ? [search.again] : [] },
    {
      group: 'Found',
      actions: [
        ...found.map((one) => ({
          id: one.id,
          label: one.title,
          description: one.detail,
          leftSection: <FoundIcon found={one} />,
          onClick: goTo(pathOfId(one.id) ?? paths.home()),
        })),
        // What the search does not know may still have a page, which says what became of it.
        ...(found.length === 0 && isPage(idPath)
          ? [{ id: 'open-id', label: `Open ${text}`, onClick: goTo(idPath) } satisfies SpotlightActionData]
          : []),
      ],
    },
    {
      group: 'Pages',
      actions: NAVIGATION.filter(({ label }) => isMeant(label)).map(({ path, label, icon, letter }) => ({
        id: path,
        label,
        description: `g ${letter}`,
        leftSection: <Icon name={icon} />,
        onClick: goTo(path),
      })),
    },
    {
      group: 'Actions',
      actions: ACTIONS.filter(({ label, path, keywords = '' }) => isPage(path) && isMeant(label, keywords)).map(
        ({ id, label, path, search }) => ({ id, label, onClick: goTo(path, search) }),
      ),
    },
  ];
  groups.push({ group: 'Nothing found', actions: isMissing ? [refusedRequests] : [] });
  return (
    <Spotlight
      actions={groups.filter(({ actions }) => actions.length > 0)}
      // Everything was chosen above; words of the service are matched by the service.
      filter={(_query, actions) => actions}
      query={query}
      onQueryChange={setQuery}
      shortcut={['mod + K']}
      limit={SHOWN_LIMIT}
      scrollable
      nothingFound={
        search.state === 'running'
          ? 'Searching…'
          : 'Nothing found. Try a stock number, a reference, an order number, a customer or an id.'
      }
      searchProps={{
        placeholder: 'Pages, stock, customers, numbers or an id',
        'aria-label': 'Search and commands',
        onKeyDown: chooseFirst,
      }}
    />
  );
}

/** What the service finds comes after the keystroke at which Spotlight chose a line: Enter then takes the first. */
function chooseFirst(event: KeyboardEvent<HTMLInputElement>): void {
  const dialog = event.currentTarget.closest('[role="dialog"]');
  if (event.key !== 'Enter' || dialog === null || dialog.querySelector('[data-action][data-selected]') !== null) return;
  dialog.querySelector('[data-action]')?.setAttribute('data-selected', 'true');
}

type Search = { found: Found[]; state: 'none' | 'running' | 'done' | 'failed'; again: SpotlightActionData };

function useFound(text: string): Search {
  const [wanted] = useDebouncedValue(text, TYPING_PAUSE_MS);
  const { data, error, isPlaceholderData, refetch } = useQuery({
    ...read('GET /search', { query: { q: wanted } }, []),
    enabled: wanted.length >= MIN_LENGTH,
    placeholderData: keepPreviousData,
    throwOnError: false,
  });
  const again = {
    id: 'search-again',
    label: 'The search could not be done. Search again',
    description: error?.message,
    closeSpotlightOnTrigger: false,
    onClick: () => void refetch(),
  };
  if (text.length < MIN_LENGTH) return { found: [], state: 'none', again };
  if (error !== null && wanted === text) return { found: [], state: 'failed', again };
  const isDone = data !== undefined && !isPlaceholderData && wanted === text;
  return { found: data?.data ?? [], state: isDone ? 'done' : 'running', again };
}

function FoundIcon({ found }: { found: Found }) {
  if (found.photo_url === null) return <Icon name={ICONS[found.kind]} />;
  return <img className="thumbnail" src={found.photo_url} alt="" width={32} height={32} />;
}

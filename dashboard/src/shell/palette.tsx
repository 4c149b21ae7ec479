import { Spotlight, type SpotlightActionData } from '@mantine/spotlight';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { pathOfId, paths } from '../paths.ts';
import { Icon } from '../ui/icons.tsx';
import { NAVIGATION } from './navigation.ts';

/** Actions that are no page of their own. Whoever brings one adds it here. */
const ACTIONS: { id: string; label: string; path: string }[] = [
  { id: 'new-integration', label: 'New integration', path: paths.newIntegration() },
  { id: 'account', label: 'My account', path: paths.account() },
  { id: 'team', label: 'Team', path: paths.team() },
];

/** Ctrl-K: pages, actions, and whatever an id names. */
export function Palette() {
  const navigate = useNavigate();
  const [query, setQuery] = useState('');
  const goTo = (path: string) => () => void navigate({ to: path });
  const idPath = pathOfId(query.trim());
  const actions: SpotlightActionData[] = [
    ...(idPath === null
      ? []
      : [{ id: 'open-id', label: `Open ${query.trim()}`, onClick: goTo(idPath), keywords: [query] }]),
    ...NAVIGATION.map(({ path, label, icon, letter }) => ({
      id: path,
      label,
      description: `g ${letter}`,
      leftSection: <Icon name={icon} />,
      onClick: goTo(path),
    })),
    ...ACTIONS.map(({ id, label, path }) => ({ id, label, onClick: goTo(path) })),
  ];
  return (
    <Spotlight
      actions={actions}
      query={query}
      onQueryChange={setQuery}
      shortcut={['mod + K']}
      nothingFound="Nothing found. An id such as ord_… opens what it names."
      highlightQuery
      searchProps={{ placeholder: 'Pages, actions or an id', 'aria-label': 'Search and commands' }}
    />
  );
}

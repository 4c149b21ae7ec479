import { Link, useLocation } from '@tanstack/react-router';
import { Icon } from '../../ui/icons.tsx';
import { useBadges } from './badges.ts';
import { NAVIGATION, type NavigationEntry } from './navigation.ts';

/** How many entries fit under a thumb; the rest are in the menu. */
const TABS_LIMIT = 5;
const BADGE_LIMIT = 99;

export function NavigationList({ onNavigate }: { onNavigate: () => void }) {
  return (
    <nav aria-label="Pages" className="navigation">
      {NAVIGATION.map((entry) => (
        <EntryLink key={entry.path} entry={entry} onNavigate={onNavigate} />
      ))}
    </nav>
  );
}

/** At the bottom of a phone. */
export function NavigationTabs() {
  return (
    <nav aria-label="Main pages" className="navigation-tabs">
      {NAVIGATION.slice(0, TABS_LIMIT).map((entry) => (
        <EntryLink key={entry.path} entry={entry} />
      ))}
    </nav>
  );
}

function EntryLink({ entry, onNavigate }: { entry: NavigationEntry; onNavigate?: () => void }) {
  const { pathname } = useLocation();
  const count = useBadges()[entry.badge ?? ''] ?? 0;
  const isCurrent = entry.path === '/' ? pathname === '/' : pathname.startsWith(entry.path);
  return (
    <Link to={entry.path} onClick={onNavigate} aria-current={isCurrent ? 'page' : undefined}>
      <Icon name={entry.icon} />
      <span>{entry.label}</span>
      {count === 0 ? null : (
        <span className="badge">
          {count > BADGE_LIMIT ? `${BADGE_LIMIT}+` : count}
          <span className="visually-hidden"> need attention</span>
        </span>
      )}
    </Link>
  );
}

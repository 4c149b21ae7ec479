import { Anchor } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { paths } from '../../paths.ts';
import { useTestChannels } from '../navigation/badges.ts';

/** Orders of a channel in test mode touch no stock. While there is such a channel, every page says so. */
export function TestModeBanner() {
  const [first, ...others] = useTestChannels();
  if (first === undefined) return null;
  const isOne = others.length === 0;
  return (
    <div className="banner" role="status">
      <span>
        {first.name}
        {isOne ? ' is' : ` and ${others.length} more are`} in test mode: orders touch no stock.
      </span>
      <Anchor
        size="sm"
        c="inherit"
        renderRoot={(props) => <Link to={isOne ? paths.integration(first.id) : paths.integrations()} {...props} />}
      >
        {isOne ? 'Go live' : 'Show them'}
      </Anchor>
    </div>
  );
}

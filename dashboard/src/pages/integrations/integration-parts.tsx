import type { ReactNode } from 'react';
import { queryClient } from '../../api/queries.ts';
import { integrationQuery, integrationsQuery } from './integration-queries.ts';

/** Reads the integration anew, also where no stream of changes comes through. */
export function refreshIntegration(id: string): void {
  void queryClient.invalidateQueries({ queryKey: integrationQuery(id).queryKey });
  void queryClient.invalidateQueries({ queryKey: integrationsQuery.queryKey });
}

export function Facts({ facts }: { facts: [name: string, value: ReactNode][] }) {
  return (
    <dl className="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

import { Button, Skeleton, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { AuditObjectKind } from '../../../../src/contract/audit-actions.ts';
import { paths } from '../../paths.ts';
import { useSession } from '../../shell/session/session.ts';
import { ErrorState } from '../../ui/page/states.tsx';
import { type AuditEntry, auditQuery } from './audit-queries.ts';
import { BusinessTime } from './business-time.tsx';
import { actionText, actorName, ChangeList } from './change-list.tsx';

const SHOWN_LIMIT = 20;

type ObjectHistoryProps = {
  kind: AuditObjectKind;
  id: string;
  /** Buttons of an entry, such as Undo. */
  actionsOf?: (entry: AuditEntry) => ReactNode;
};

/** What was done to one object, newest first: for the page of an item, an order or an integration. */
export function ObjectHistory({ kind, id, actionsOf }: ObjectHistoryProps) {
  const list = useQuery(auditQuery({ object_kind: kind, object_id: id, limit: SHOWN_LIMIT }));
  const { time_zone: zone } = useSession().organization;
  if (list.data === undefined) {
    return list.error === null ? (
      <Skeleton height={80} />
    ) : (
      <ErrorState error={list.error} onRetry={() => void list.refetch()} />
    );
  }
  if (list.data.data.length === 0) return <Text c="dimmed">Nothing has been changed yet.</Text>;
  return (
    <>
      <Text size="xs" c="dimmed">
        Times in {zone}
      </Text>
      <ol className="plain-list" aria-label="History">
        {list.data.data.map((entry) => (
          <li key={entry.id}>
            <div>
              <Text size="sm">
                {entry.undoes === null ? '' : 'Undo: '}
                {actionText(entry)}
              </Text>
              <Text size="xs" c="dimmed">
                {actorName(entry)} · <BusinessTime at={entry.at} />
              </Text>
              <ChangeList changes={entry.changes} personalFields={entry.personal_fields} names={entry.names} />
            </div>
            {actionsOf?.(entry)}
          </li>
        ))}
      </ol>
      {list.data.next_cursor === null ? null : (
        <Button
          mt="sm"
          size="xs"
          variant="default"
          renderRoot={(props) => (
            <Link to={paths.audit()} search={{ object_kind: kind, object_id: id } as never} {...props} />
          )}
        >
          Show all
        </Button>
      )}
    </>
  );
}

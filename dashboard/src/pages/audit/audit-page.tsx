import { Anchor, Button, Collapse, Group, Text, Tooltip } from '@mantine/core';
import { DateInput } from '@mantine/dates';
import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import {
  AUDIT_ACTION_LABELS,
  AUDIT_ACTOR_LABELS,
  AUDIT_OBJECT_KIND_LABELS,
} from '../../../../src/contract/audit-actions.ts';
import { DAY_MS } from '../../../../src/contract/timestamps.ts';
import { apiUrl } from '../../api/client.ts';
import { formatNumber } from '../../format.ts';
import { pathOfId } from '../../paths.ts';
import { useOwnerOnlyReason, useSession } from '../../shell/session/session.ts';
import type { Column } from '../../table/columns.ts';
import { DataTable } from '../../table/data-table.tsx';
import { optionsOf } from '../../table/filters/filter-choices.ts';
import { useListPage } from '../../table/list-page.ts';
import type { ListState, ListStateSetters } from '../../table/list-state.ts';
import { instantOf, localTimeOf } from '../../time-zone.ts';
import { Page } from '../../ui/page/page.tsx';
import { EmptyState } from '../../ui/page/states.tsx';
import { teamQuery } from '../settings/settings-queries.ts';
import { type AuditEntry, auditObjectsQuery, auditQuery } from './audit-queries.ts';
import { BusinessTime } from './business-time.tsx';
import { actionText, actorName, ChangeList } from './change-list.tsx';
import { UndoButton } from './undo-button.tsx';

const FILTER_NAMES = ['actor', 'action', 'object_kind', 'object_id', 'from', 'to'];

export function AuditPage() {
  const { state, list } = useListPage(FILTER_NAMES, auditQuery);
  const { members } = useSuspenseQuery(teamQuery).data;
  const filters = useMemo(
    () => [
      {
        name: 'actor',
        label: 'Who',
        options: [
          ...members.map(({ id, name }) => ({ value: id, label: name })),
          { value: 'command_line', label: AUDIT_ACTOR_LABELS.command_line },
          { value: 'job', label: AUDIT_ACTOR_LABELS.job },
        ],
      },
      { name: 'action', label: 'Action', options: optionsOf(AUDIT_ACTION_LABELS) },
      { name: 'object_kind', label: 'Kind', options: optionsOf(AUDIT_OBJECT_KIND_LABELS) },
    ],
    [members],
  );
  return (
    <Page
      title="Audit"
      action={<ExportButton filters={state.q === '' ? state.filters : { ...state.filters, object_id: state.q }} />}
    >
      <DateRange state={state} />
      <DataTable
        name="Audit"
        columns={COLUMNS}
        filters={filters}
        state={state}
        list={list}
        idOf={({ id }) => id}
        searchLabel="Id of an object"
        empty={<EmptyState title="Nothing has been changed yet.">Every change by a person appears here.</EmptyState>}
      />
    </Page>
  );
}

/** Whole days of the business, both included; the address holds the instants between which they lie. */
function DateRange({ state }: { state: ListState & ListStateSetters }) {
  const { time_zone: zone } = useSession().organization;
  const { from, to } = state.filters;
  const dayOf = (instant: string | undefined, shiftMs = 0) =>
    instant === undefined
      ? null
      : localTimeOf(new Date(Date.parse(instant) - shiftMs).toISOString(), zone).slice(0, 10);
  const startOf = (day: string | null) => (day === null ? '' : instantOf(`${day}T00:00`, zone));
  return (
    <Group gap="xs" mb="xs">
      <DateInput
        size="xs"
        w={150}
        aria-label="From this day"
        placeholder="From"
        clearable
        value={dayOf(from)}
        onChange={(day) => state.setFilter('from', startOf(day))}
      />
      <DateInput
        size="xs"
        w={150}
        aria-label="Up to this day"
        placeholder="Up to"
        clearable
        value={dayOf(to, 1)}
        onChange={(day) => state.setFilter('to', startOf(day === null ? null : nextDay(day)))}
      />
      <Text size="xs" c="dimmed">
        Days and times in {zone}
      </Text>
    </Group>
  );
}

function nextDay(day: string): string {
  return new Date(Date.parse(`${day}T00:00Z`) + DAY_MS).toISOString().slice(0, 10);
}

function ExportButton({ filters }: { filters: Record<string, string> }) {
  const reason = useOwnerOnlyReason();
  return (
    <Tooltip label={reason} disabled={reason === null}>
      <Button
        variant="default"
        component="a"
        href={reason === null ? apiUrl('GET /audit/export', { query: filters }) : undefined}
        data-disabled={reason !== null || undefined}
        download
      >
        Export CSV
      </Button>
    </Tooltip>
  );
}

const COLUMNS: Column<AuditEntry>[] = [
  { id: 'at', header: 'When', width: 130, cell: (entry) => <BusinessTime at={entry.at} />, phone: 'line' },
  { id: 'actor', header: 'Who', width: 160, cell: (entry) => <ActorCell entry={entry} />, phone: 'side' },
  {
    id: 'action',
    header: 'What',
    width: 200,
    cell: actionText,
    phone: 'title',
    phoneCell: (entry) => (
      <>
        <div>
          <strong>{actionText(entry)}</strong>
        </div>
        <ObjectCell entry={entry} />
      </>
    ),
  },
  { id: 'object', header: 'Of', cell: (entry) => <ObjectCell entry={entry} />, phone: 'none' },
  { id: 'changes', header: 'Old and new', cell: (entry) => <ChangesCell entry={entry} /> },
];

function ActorCell({ entry }: { entry: AuditEntry }) {
  const { role, address } = entry.actor;
  const from = [role, address].filter((text) => text !== null).join(', ');
  return (
    <>
      {actorName(entry)}
      {from === '' ? null : (
        <Text size="xs" c="dimmed">
          {from}
        </Text>
      )}
    </>
  );
}

function ObjectCell({ entry: { object, object_count: count } }: { entry: AuditEntry }) {
  const kind = AUDIT_OBJECT_KIND_LABELS[object.kind];
  if (object.id === null) return `${formatNumber(count)} ${kind.toLowerCase()}${count === 1 ? '' : 's'}`;
  const path = pathOfId(object.id);
  const name = object.name ?? object.id;
  return (
    <div className="item-name">
      <Text size="sm" truncate>
        {path === null ? name : <Anchor renderRoot={(props) => <Link to={path} {...props} />}>{name}</Anchor>}
      </Text>
      <Text size="xs" c="dimmed">
        {kind}
      </Text>
    </div>
  );
}

/** The changes of one object, or on demand those of each of many. */
function ChangesCell({ entry }: { entry: AuditEntry }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <div className="changes-cell">
      <ChangeList changes={entry.changes} personalFields={entry.personal_fields} names={entry.names} />
      {entry.undoes === null ? null : <Text size="xs">Undoes an earlier change.</Text>}
      <UndoButton entry={entry} />
      {entry.object.id === null && entry.object_count > 0 ? (
        <>
          <button type="button" className="text-button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            {isOpen ? 'Hide each' : 'Show each'}
          </button>
          <Collapse expanded={isOpen}>{isOpen ? <ManyObjects auditId={entry.id} /> : null}</Collapse>
        </>
      ) : null}
    </div>
  );
}

function ManyObjects({ auditId }: { auditId: string }) {
  const { data } = useQuery(auditObjectsQuery(auditId));
  if (data === undefined) return <Text size="xs">Loading</Text>;
  return (
    <ul className="change-list">
      {data.data.map((object) => (
        <li key={object.id}>
          {object.name ?? object.id}
          <ChangeList changes={object.changes} />
        </li>
      ))}
      {data.next_cursor === null ? null : <li>The first {data.data.length} are shown.</li>}
    </ul>
  );
}

import { Button, Group, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { queryClient, readAnew, useOperation } from '../../api/queries.ts';
import { formatCount } from '../../format.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { DoubleClickGuard } from '../../ui/double-click-guard.tsx';
import { Nothing } from '../../ui/nothing.tsx';
import { ErrorState, PageSkeleton } from '../../ui/page/states.tsx';
import { customerQuery, type MergePreview, mergeQuery, nameOf } from './customer-queries.ts';

type MergeDialogProps = {
  keptId: string;
  mergedId: string;
  onClose: () => void;
  onMerged?: (keptId: string) => Promise<void>;
};

/** Two customers side by side, with what each field becomes. Which one is kept can be turned round. */
export function MergeDialog({ onClose, onMerged, ...given }: MergeDialogProps) {
  const [{ keptId, mergedId }, setPair] = useState(given);
  const merge = useOperation('POST /customers/{customer_id}/merge/{merged_id}', {
    success: 'Merged.',
    async onSuccess() {
      onClose();
      await onMerged?.(keptId);
      // Nobody asks for the customer who is gone, nor for this preview, when customers are read anew.
      for (const { queryKey } of [
        customerQuery(mergedId),
        mergeQuery(keptId, mergedId),
        mergeQuery(mergedId, keptId),
      ]) {
        queryClient.removeQueries({ queryKey });
      }
      void readAnew('customer');
    },
  });
  // From the merge on there is nothing left to preview, though a live update of the customers still arrives.
  const isMerging = merge.isPending || merge.isSuccess;
  const preview = useQuery({ ...mergeQuery(keptId, mergedId), enabled: !isMerging });
  const { data, error } = preview;
  return (
    <Dialog opened onClose={onClose} title="Merge two customers" size="xl">
      {error !== null ? <ErrorState error={error} onRetry={() => void preview.refetch()} /> : null}
      {data === undefined && error === null ? <PageSkeleton /> : null}
      {data === undefined || error !== null ? null : <Preview data={data} />}
      <Group justify="space-between" mt="lg">
        <Button
          variant="subtle"
          px={0}
          disabled={data === undefined}
          onClick={() => setPair({ keptId: mergedId, mergedId: keptId })}
        >
          Keep the other one
        </Button>
        <Group gap="xs">
          <Button variant="default" onClick={onClose}>
            Keep both
          </Button>
          <DoubleClickGuard shows={data === undefined ? 'loading' : 'preview'}>
            <Button
              disabled={data === undefined || error !== null}
              loading={merge.isPending}
              onClick={() => merge.mutate({ params: { customer_id: keptId, merged_id: mergedId } })}
            >
              Merge
            </Button>
          </DoubleClickGuard>
        </Group>
      </Group>
    </Dialog>
  );
}

const LABELS = {
  first_name: 'First name',
  last_name: 'Last name',
  company: 'Company',
  email: 'Email',
  phone: 'Phone',
  address: 'Address',
} as const;

function Preview({ data }: { data: MergePreview }) {
  const { kept, merged, fields } = data;
  const byName = new Map(fields.map((field) => [field.field, field]));
  return (
    <>
      <Text size="sm" mb="xs">
        {nameOf(merged)} becomes part of {nameOf(kept)}, who keeps what they have and takes what they lack.
      </Text>
      <section aria-label="What each field becomes">
        <table className="merge">
          <thead>
            <tr>
              <th scope="col">Field</th>
              <th scope="col">Kept: {nameOf(kept)}</th>
              <th scope="col">Merged into it: {nameOf(merged)}</th>
              <th scope="col">Becomes</th>
            </tr>
          </thead>
          <tbody>
            {Object.entries(LABELS).map(([name, label]) => (
              <FieldRow key={name} label={label} field={byName.get(name as keyof typeof LABELS)} />
            ))}
          </tbody>
        </table>
      </section>
      <Effects data={data} />
    </>
  );
}

function FieldRow({ label, field }: { label: string; field: MergePreview['fields'][number] | undefined }) {
  if (field === undefined) return null;
  const [kept, merged, result] = [textOf(field.kept), textOf(field.merged), textOf(field.result)];
  // Neither knows it.
  if (kept === '' && merged === '') return null;
  const isLost = merged !== '' && merged !== result;
  return (
    <tr>
      <th scope="row">{label}</th>
      <td data-label="Kept">{kept || <Nothing />}</td>
      <td data-label="Merged">{merged === '' ? <Nothing /> : isLost ? <del>{merged}</del> : merged}</td>
      <td data-label="Becomes" data-taken={kept === '' && result !== '' ? '' : undefined}>
        {result || <Nothing />}
      </td>
    </tr>
  );
}

/** What passes to the kept one, besides its fields. */
function Effects({ data }: { data: MergePreview }) {
  const { kept, moved_orders: orders, moved_links: links, resolved_orders: resolved } = data;
  const sentences = [
    `${orders.value === 0 ? 'No orders pass' : orders.value === 1 ? '1 order passes' : `${formatCount(orders)} orders pass`} to ${nameOf(kept)}.`,
    ...links.map((link) => `${link.channel_name ?? 'A detached integration'} finds them by ${link.external_id}, too.`),
    ...(resolved === 0
      ? []
      : [resolved === 1 ? '1 order in conflict is decided.' : `${resolved} orders in conflict are decided.`]),
  ];
  return (
    <>
      <ul className="merge-effects">
        {sentences.map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
      <Text size="sm" c="dimmed">
        What is struck through is not kept. A merge can’t be undone.
      </Text>
    </>
  );
}

function textOf(value: MergePreview['fields'][number]['kept']): string {
  if (value === null) return '';
  return typeof value === 'string' ? value : addressLines(value).join(', ');
}

type Address = Exclude<MergePreview['fields'][number]['kept'], string | null>;

/** An address as it stands on an envelope. */
export function addressLines({ line1, line2, postal_code: code, city, state, country }: Address): string[] {
  const place = [[code, city].filter(Boolean).join(' '), state].filter(Boolean).join(', ');
  return [line1, line2, place, country].filter((line): line is string => line !== null && line !== '');
}

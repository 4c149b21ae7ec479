import { Button, Group, Text } from '@mantine/core';
import { useSuspenseQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { refresh } from '../../api/queries.ts';
import { CopyId } from '../../ui/copy-id.tsx';
import { LeaveGuard } from '../../ui/page/leave-guard.tsx';
import { Page } from '../../ui/page/page.tsx';
import { Status } from '../../ui/status.tsx';
import { ActionsMenu } from './actions-menu.tsx';
import { ChannelsPanel } from './channels/channels-panel.tsx';
import { ConflictDialog } from './form/conflict-dialog.tsx';
import { HistoryPanel } from './history-panel.tsx';
import './item.css';
import { useItemEditor } from './form/item-editor.ts';
import { ItemFields } from './form/item-fields.tsx';
import { usePreview } from './form/preview.ts';
import { useSaveKey } from './form/save-key.ts';
import { type Item, itemQuery } from './item-queries.ts';
import { PhotoPanel } from './photos/photo-panel.tsx';
import { PromotionsPanel } from './promotions-panel.tsx';
import { ReservationsPanel } from './reservations-panel.tsx';
import { SalesPanel } from './sales-panel.tsx';

export function ItemPage() {
  const { id = '' } = useParams({ strict: false }) as { id?: string };
  const { data: item } = useSuspenseQuery(itemQuery(id));
  return <ItemEditor key={item.id} item={item} />;
}

const STATUS = {
  in_stock: { tone: 'good', label: 'In stock' },
  reserved: { tone: 'warn', label: 'Reserved' },
  sold: { tone: 'off', label: 'Sold' },
} as const;

function ItemEditor({ item }: { item: Item }) {
  const refreshItem = () => refresh({ queryKey: itemQuery(item.id).queryKey });
  const form = useItemEditor(item);
  const preview = usePreview(item.kind, item.id, form.values, form.isDirty);
  useSaveKey(form.save);
  const { tone, label } = STATUS[item.status];
  return (
    <Page
      title={item.title}
      hasStickyHeader
      action={
        <Group gap="xs" wrap="nowrap">
          <ActionsMenu item={item} onChanged={refreshItem} />
          {form.isDirty ? (
            <Button variant="subtle" visibleFrom="sm" disabled={form.isSaving} onClick={form.discard}>
              Discard
            </Button>
          ) : null}
          <Button loading={form.isSaving} disabled={!form.isDirty} onClick={() => void form.save()}>
            Save
          </Button>
        </Group>
      }
    >
      <Group gap="md" mb="md">
        <Status tone={item.is_hidden ? 'off' : tone}>{item.is_hidden ? `${label}, hidden` : label}</Status>
        <Text size="sm" c="dimmed">
          {item.free_units} free, {item.reserved_units} reserved
        </Text>
        <CopyId id={item.id} />
        {form.isDirty ? <Status tone="warn">Unsaved changes</Status> : null}
      </Group>
      <LeaveGuard isDirty={form.isDirty} />
      <div className="item-page">
        <div>
          <PhotoPanel item={item} onChanged={refreshItem} />
          <ItemFields
            kind={item.kind}
            choices={item.choices}
            values={form.values}
            errors={form.errors}
            onChange={form.change}
          />
        </div>
        <div>
          <ChannelsPanel
            itemId={item.id}
            channels={preview.data?.channels ?? item.channels}
            isDraft={form.isDirty}
            onChanged={refreshItem}
          />
          <PromotionsPanel item={item} onChanged={refreshItem} />
          <ReservationsPanel item={item} onChanged={refreshItem} />
          <SalesPanel item={item} onChanged={refreshItem} />
          <HistoryPanel itemId={item.id} />
        </div>
      </div>
      {form.conflict === null ? null : (
        <ConflictDialog
          {...form.conflict}
          locations={item.choices.locations}
          isSaving={form.isSaving}
          onSave={(choices) => void form.resolve(choices)}
          onClose={form.closeConflict}
        />
      )}
    </Page>
  );
}

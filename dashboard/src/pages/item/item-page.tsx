import { Button, Group, Text } from '@mantine/core';
import { useSuspenseQuery } from '@tanstack/react-query';
import { useBlocker, useParams } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { ApiFailure, api } from '../../api/client.ts';
import { queryClient } from '../../api/queries.ts';
import { CopyId } from '../../ui/copy-id.tsx';
import { Page } from '../../ui/page.tsx';
import { Status } from '../../ui/status.tsx';
import { toastError, toastSuccess } from '../../ui/toasts.ts';
import { ActionsMenu } from './actions-menu.tsx';
import { ChannelsPanel } from './channels-panel.tsx';
import { ConflictDialog, conflictsOf } from './conflict-dialog.tsx';
import { HistoryPanel } from './history-panel.tsx';
import './item.css';
import { ItemFields } from './item-fields.tsx';
import { changedFields, type ItemValues, valuesOf } from './item-form.ts';
import { type Item, itemQuery } from './item-queries.ts';
import { PhotoPanel } from './photo-panel.tsx';
import { usePreview } from './preview.ts';
import { PromotionsPanel } from './promotions-panel.tsx';
import { useSaveKey } from './save-key.ts';

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
  const refresh = () => queryClient.invalidateQueries({ queryKey: itemQuery(item.id).queryKey });
  const form = useItemEditor(item);
  const preview = usePreview(item.kind, item.id, form.values, form.isDirty);
  useSaveKey(form.save);
  useBlocker({
    shouldBlockFn: () => form.isDirty && !window.confirm('Leave without saving? Your changes would be lost.'),
    enableBeforeUnload: () => form.isDirty,
  });
  const { tone, label } = STATUS[item.status];
  return (
    <Page
      title={item.title}
      action={
        <Group gap="xs" wrap="nowrap">
          <ActionsMenu item={item} onChanged={refresh} />
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
      </Group>
      <div className="item-page">
        <div>
          <PhotoPanel item={item} onChanged={refresh} />
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
            onChanged={refresh}
          />
          <PromotionsPanel item={item} onChanged={refresh} />
          <HistoryPanel itemId={item.id} />
        </div>
      </div>
      {form.conflict === null ? null : (
        <ConflictDialog
          conflicts={conflictsOf(form.base, form.values, form.conflict)}
          onChoose={form.resolve}
          onClose={form.closeConflict}
        />
      )}
    </Page>
  );
}

/** The form and its save. A live update changes the form only while nothing is edited. */
function useItemEditor(item: Item) {
  const [base, setBase] = useState(() => ({ revision: item.revision, values: valuesOf(item) }));
  const [values, setValues] = useState(base.values);
  const [errors, setErrors] = useState<Record<string, string>>({});
  const [isSaving, setSaving] = useState(false);
  const [theirs, setTheirs] = useState<Item | null>(null);
  const changed = changedFields(base.values, values);
  const isDirty = Object.keys(changed).length > 0;
  const dirty = useRef(isDirty);
  dirty.current = isDirty;

  const start = (from: Item) => {
    setBase({ revision: from.revision, values: valuesOf(from) });
    setValues(valuesOf(from));
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a new answer of the service starts the form anew.
  useEffect(() => {
    if (!dirty.current) start(item);
  }, [item]);

  const fresh = () => queryClient.fetchQuery({ ...itemQuery(item.id), staleTime: 0 });

  async function save(): Promise<void> {
    if (!isDirty || isSaving) return;
    setSaving(true);
    setErrors({});
    try {
      const body = {
        revision: base.revision,
        ...changed,
        ...(changed.units === undefined ? {} : { units_from: base.values.units }),
      };
      await api('PATCH /items/{item_id}', { params: { item_id: item.id }, body });
      start(await fresh());
      toastSuccess('Saved.');
    } catch (error) {
      if (!(error instanceof ApiFailure)) throw error;
      if (error.code === 'changed_meanwhile') setTheirs(await fresh());
      else if (error.field === undefined) toastError(error);
      else setErrors({ [error.field]: error.message });
    } finally {
      setSaving(false);
    }
  }

  /** Lays the person's own changes over what stands now, without those fields that the colleague keeps. */
  function resolve(choice: 'mine' | 'theirs'): void {
    if (theirs === null) return;
    const now = valuesOf(theirs);
    const lost = new Set(choice === 'mine' ? [] : conflictsOf(base.values, values, now).map(({ field }) => field));
    const { attributes = {}, ...fields } = changed;
    const kept = (given: object) => Object.fromEntries(Object.entries(given).filter(([name]) => !lost.has(name)));
    setBase({ revision: theirs.revision, values: now });
    setValues({ ...now, ...kept(fields), attributes: { ...now.attributes, ...kept(attributes) } });
    setTheirs(null);
  }

  return {
    base: base.values,
    values,
    errors,
    isDirty,
    isSaving,
    conflict: theirs === null ? null : valuesOf(theirs),
    change: (changes: Partial<ItemValues>) => setValues((before) => ({ ...before, ...changes })),
    save,
    resolve,
    closeConflict: () => setTheirs(null),
  };
}

import { Button } from '@mantine/core';
import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { ApiFailure, api } from '../../api/client.ts';
import { showFailure } from '../../api/failures.ts';
import { paths } from '../../paths.ts';
import { toastSuccess } from '../../ui/feedback/toasts.ts';
import { LeaveGuard } from '../../ui/page/leave-guard.tsx';
import { Page } from '../../ui/page/page.tsx';
import type { Kind } from '../stock/stock-queries.ts';
import { ChannelsPanel } from './channels/channels-panel.tsx';
import './item.css';
import { merged } from './form/conflicts.ts';
import { focusFirstError } from './form/item-editor.ts';
import { ItemFields } from './form/item-fields.tsx';
import { changedFields, emptyValues, type ItemValues, valuesOf } from './form/item-form.ts';
import { problemsOf, untouched } from './form/item-problems.ts';
import { usePreview } from './form/preview.ts';
import { useSaveKey } from './form/save-key.ts';
import { itemChoicesQuery, itemQuery } from './item-queries.ts';
import { ChosenPhotos } from './photos/chosen-photos.tsx';
import { uploadOnPage } from './photos/photo-uploads.ts';

export function NewWatchPage() {
  return <NewItemPage kind="listing" />;
}

export function NewPartPage() {
  return <NewItemPage kind="part" />;
}

/** A form for a new item; `?from=` an item begins as a copy of it. Nothing is stored before it is saved. */
function NewItemPage({ kind }: { kind: Kind }) {
  const { data: choices } = useSuspenseQuery(itemChoicesQuery(kind));
  const { from = '' } = useSearch({ strict: false }) as { from?: string };
  const source = useQuery({ ...itemQuery(from), enabled: from !== '' });
  const [empty] = useState(() => emptyValues(kind));
  const [values, setValues] = useState(empty);
  const [files, setFiles] = useState<File[]>([]);
  const [errors, setErrors] = useState<Record<string, string>>({});
  const [isSaving, setSaving] = useState(false);
  const [isDone, setDone] = useState(false);
  const navigate = useNavigate();
  const preview = usePreview(kind, null, values, true);
  const isDirty = !isDone && (files.length > 0 || Object.keys(changedFields(empty, values)).length > 0);
  const isCopied = useRef(false);
  useEffect(() => {
    // Once: a live update of the original must not take away what was typed into its copy.
    if (source.data === undefined || isCopied.current) return;
    isCopied.current = true;
    // Each watch has its own numbers; the rest is copied.
    const copy = { ...valuesOf(source.data), stock_number: '', serial_number: null, units: 1 };
    setValues((typed) => merged(empty, typed, copy, {}));
  }, [source.data, empty]);
  async function save(): Promise<void> {
    if (isSaving) return;
    const problems = problemsOf(kind, values);
    setErrors(problems);
    if (Object.keys(problems).length > 0) return focusFirstError();
    setSaving(true);
    const { cost_amount: cost, units, ...fields } = values;
    try {
      const body = { kind, ...fields, units: units ?? 0, ...(choices.sees_cost ? { cost_amount: cost } : {}) };
      const { id } = await api('POST /items', { body });
      setDone(true);
      uploadOnPage(id, files);
      toastSuccess(files.length === 0 ? 'Saved. Now add photos.' : 'Saved. The photos are being uploaded.');
      // Back leads to the list, not to an empty form.
      await navigate({ to: paths.item(id), replace: true, ignoreBlocker: true });
    } catch (error) {
      if (!(error instanceof ApiFailure) || error.field === undefined) return showFailure(error);
      setErrors({ [error.field]: error.message });
      focusFirstError();
    } finally {
      setSaving(false);
    }
  }
  useSaveKey(save);

  return (
    <Page
      title={kind === 'part' ? 'New part' : 'New watch'}
      hasStickyHeader
      action={
        <Button loading={isSaving} onClick={() => void save()}>
          Save
        </Button>
      }
    >
      <LeaveGuard isDirty={isDirty} />
      <div className="item-page">
        <div>
          <ChosenPhotos files={files} isOff={isSaving || isDone} onChange={setFiles} />
          <ItemFields
            kind={kind}
            choices={choices}
            values={values}
            errors={{ ...problemsOf(kind, values, { isTyping: true }), ...errors }}
            onChange={(changes: Partial<ItemValues>) => {
              setErrors(untouched(errors, values, changes));
              setValues((before) => ({ ...before, ...changes }));
            }}
          />
        </div>
        <div>
          <ChannelsPanel itemId={null} channels={preview.data?.channels ?? []} isDraft onChanged={async () => {}} />
        </div>
      </div>
    </Page>
  );
}

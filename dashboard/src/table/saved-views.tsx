import { Button, Group, Menu, Switch } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { VIEW_NAME_LENGTH_LIMIT, type ViewList } from '../../../src/contract/dashboard/views.ts';
import type { Output } from '../api/client.ts';
import { read, useOperation } from '../api/queries.ts';
import { Dialog } from '../ui/dialog.tsx';
import { toastUndo } from '../ui/feedback/undo-toast.tsx';
import { TextField } from '../ui/fields/text-field.tsx';
import { Icon } from '../ui/icons.tsx';
import { canonicalQuery, type ListState, type ListStateSetters, viewQueryOf } from './list-state.ts';

/** What a list is called on its page. The service knows it by the same word (VIEW_LISTS of the contract). */
export type ListName = Capitalize<ViewList>;

type View = Output<'GET /views'>['data'][number];
type ViewsMenuProps = {
  /** The name of the list. */
  list: ListName;
  state: ListState & ListStateSetters;
  /** The columns that somebody chose. */
  columns: readonly string[];
  isStacked?: boolean;
};

/** The saved views of a list: opens them, saves what is shown, renames, shares and deletes. */
export function ViewsMenu({ list: name, state, columns, isStacked = false }: ViewsMenuProps) {
  const list = name.toLowerCase() as ViewList;
  const { data } = useQuery({ ...read('GET /views', { query: { list } }, ['view']), throwOnError: false });
  const [dialog, setDialog] = useState<'save' | 'rename' | null>(null);
  const views = data?.data ?? [];
  const open = views.find(({ id }) => id === state.view) ?? null;
  const query = viewQueryOf(state, columns);
  const isChanged = open !== null && query !== canonicalQuery(Object.fromEntries(new URLSearchParams(open.query)));
  const change = useOperation('PATCH /views/{view_id}');
  const create = useOperation('POST /views');
  const remove = useOperation('DELETE /views/{view_id}');
  const deleteView = (view: View) => {
    const again = { list, name: view.name, query: view.query, is_shared: view.is_shared };
    const onSuccess = () => {
      state.openView(null);
      toastUndo(`Deleted the view “${view.name}”.`, () => create.mutate({ body: again }));
    };
    remove.mutate({ params: { view_id: view.id } }, { onSuccess });
  };
  const label = open === null ? 'Views' : `${open.name}${isChanged ? ' (changed)' : ''}`;
  return (
    <>
      <Menu position="bottom-start" width={260} withinPortal={!isStacked}>
        <Menu.Target>
          <Button
            variant="default"
            size={isStacked ? 'md' : 'xs'}
            fullWidth={isStacked}
            aria-label={`Saved views: ${label}`}
            leftSection={<Icon name="view" size={14} />}
            rightSection={<Icon name="down" size={12} />}
          >
            <span className="view-name">{label}</span>
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <ViewItems title="Mine" views={views.filter((view) => view.is_mine)} state={state} />
          <ViewItems title="Shared by the team" views={views.filter((view) => !view.is_mine)} state={state} />
          {views.length === 0 ? <Menu.Label>No views yet</Menu.Label> : null}
          <Menu.Divider />
          {open === null ? null : <Menu.Item onClick={() => state.openView(null)}>Leave this view</Menu.Item>}
          {open?.can_change && isChanged ? (
            <Menu.Item onClick={() => change.mutate({ params: { view_id: open.id }, body: { query } })}>
              Save the changes
            </Menu.Item>
          ) : null}
          <Menu.Item onClick={() => setDialog('save')}>Save as a new view</Menu.Item>
          {open?.can_change ? (
            <>
              <Menu.Item onClick={() => setDialog('rename')}>Rename</Menu.Item>
              {open.is_mine ? (
                <Menu.Item
                  onClick={() => change.mutate({ params: { view_id: open.id }, body: { is_shared: !open.is_shared } })}
                >
                  {open.is_shared ? 'Make private' : 'Share with the team'}
                </Menu.Item>
              ) : null}
              <Menu.Item color="ruby" onClick={() => deleteView(open)}>
                Delete
              </Menu.Item>
            </>
          ) : null}
        </Menu.Dropdown>
      </Menu>
      {dialog === 'save' ? (
        <SaveDialog list={list} query={query} state={state} onClose={() => setDialog(null)} />
      ) : null}
      {dialog === 'rename' && open !== null ? <RenameDialog view={open} onClose={() => setDialog(null)} /> : null}
    </>
  );
}

function ViewItems({ title, views, state }: { title: string; views: View[]; state: ListState & ListStateSetters }) {
  if (views.length === 0) return null;
  return (
    <>
      <Menu.Label>{title}</Menu.Label>
      {views.map((view) => (
        <Menu.Item
          key={view.id}
          onClick={() => state.openView(view)}
          rightSection={view.id === state.view ? <Icon name="check" size={14} /> : null}
        >
          {view.name}
          {view.is_mine && view.is_shared ? <span className="dimmed"> · shared</span> : null}
          {!view.is_mine && view.saved_by !== null ? <span className="dimmed"> · {view.saved_by}</span> : null}
        </Menu.Item>
      ))}
    </>
  );
}

type SaveDialogProps = {
  list: ViewList;
  query: string;
  state: ListState & ListStateSetters;
  onClose: () => void;
};

function SaveDialog({ list, query, state, onClose }: SaveDialogProps) {
  const form = useForm({ initialValues: { name: '', is_shared: false } });
  const create = useOperation('POST /views', {
    form,
    success: 'Saved.',
    onSuccess({ id }) {
      onClose();
      state.openView({ id, query });
    },
  });
  return (
    <Dialog opened onClose={onClose} title="Save this view">
      <form onSubmit={form.onSubmit((values) => create.mutate({ body: { list, query, ...values } }))}>
        <TextField
          label="Name"
          description="Search, filters, order and columns are saved with it."
          maxLength={VIEW_NAME_LENGTH_LIMIT}
          required
          data-autofocus
          {...form.getInputProps('name')}
        />
        <Switch mt="md" label="Share with the team" {...form.getInputProps('is_shared', { type: 'checkbox' })} />
        <DialogButtons verb="Save" isBusy={create.isPending} onClose={onClose} />
      </form>
    </Dialog>
  );
}

function RenameDialog({ view, onClose }: { view: View; onClose: () => void }) {
  const form = useForm({ initialValues: { name: view.name } });
  const change = useOperation('PATCH /views/{view_id}', { form, success: 'Renamed.', onSuccess: onClose });
  return (
    <Dialog opened onClose={onClose} title="Rename the view">
      <form onSubmit={form.onSubmit((body) => change.mutate({ params: { view_id: view.id }, body }))}>
        <TextField
          label="Name"
          maxLength={VIEW_NAME_LENGTH_LIMIT}
          required
          data-autofocus
          {...form.getInputProps('name')}
        />
        <DialogButtons verb="Rename" isBusy={change.isPending} onClose={onClose} />
      </form>
    </Dialog>
  );
}

function DialogButtons({ verb, isBusy, onClose }: { verb: string; isBusy: boolean; onClose: () => void }) {
  return (
    <Group justify="flex-end" mt="lg">
      <Button variant="default" onClick={onClose}>
        Cancel
      </Button>
      <Button type="submit" loading={isBusy}>
        {verb}
      </Button>
    </Group>
  );
}

import { Button, Group, Stack, Text, Title } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useSuspenseQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Output } from '../../api/client.ts';
import { queryClient, useOperation } from '../../api/queries.ts';
import { formatNumber } from '../../format.ts';
import { paths } from '../../paths.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { DoubleClickGuard } from '../../ui/double-click-guard.tsx';
import { Confirm } from '../../ui/feedback/confirm.tsx';
import { TextField } from '../../ui/fields/text-field.tsx';
import { EmptyState } from '../../ui/page/states.tsx';
import { locationsQuery } from './settings-queries.ts';
import { SettingsPage } from './settings-tabs.tsx';

type Unit = Output<'GET /locations'>['business_units'][number];
type Location = Unit['locations'][number];
/** What the dialog names: something new, or something that is there. */
type Naming = { title: string; name: string; save: (name: string) => void };

const refresh = () => void queryClient.invalidateQueries({ queryKey: locationsQuery.queryKey });

export function LocationsPage() {
  const { business_units: units } = useSuspenseQuery(locationsQuery).data;
  const [naming, setNaming] = useState<Naming | null>(null);
  const [leaving, setLeaving] = useState<Location | null>(null);
  const done = (success: string) => ({
    success,
    onSuccess() {
      setNaming(null);
      setLeaving(null);
      refresh();
    },
  });
  const addUnit = useOperation('POST /business-units', done('Business unit added.'));
  const addLocation = useOperation('POST /business-units/{business_unit_id}/locations', done('Location added.'));
  const renameUnit = useOperation('PATCH /business-units/{business_unit_id}', done('Renamed.'));
  const renameLocation = useOperation('PATCH /locations/{location_id}', done('Renamed.'));
  const deleteUnit = useOperation('DELETE /business-units/{business_unit_id}', done('Business unit deleted.'));
  const deleteLocation = useOperation('DELETE /locations/{location_id}', done('Location deleted.'));
  const isSaving = [addUnit, addLocation, renameUnit, renameLocation].some(({ isPending }) => isPending);
  const nameUnit = () =>
    setNaming({ title: 'Add a business unit', name: '', save: (name) => addUnit.mutate({ body: { name } }) });
  const nameLocation = (unit: Unit) => {
    const params = { business_unit_id: unit.id };
    const save = (name: string) => addLocation.mutate({ params, body: { name } });
    setNaming({ title: `Add a location in ${unit.name}`, name: '', save });
  };
  return (
    <SettingsPage action={<Button onClick={nameUnit}>Add a business unit</Button>}>
      {units.length === 0 ? (
        <EmptyState title="No business units yet.">
          A business unit is a shop or an office. Its locations are where stock lies: a window, a safe, a workshop.
        </EmptyState>
      ) : null}
      <Stack gap="xl" maw={720}>
        <DoubleClickGuard shows={shownIn(units)}>
          {units.map((unit) => (
            <section key={unit.id} aria-label={unit.name}>
              <Group justify="space-between" mb="xs" gap="xs">
                <Title order={2} size="h4">
                  {unit.name}
                </Title>
                <Group gap={4}>
                  <Button size="xs" variant="default" onClick={() => nameLocation(unit)}>
                    Add a location
                  </Button>
                  <RenameButton
                    name={unit.name}
                    onClick={() => {
                      const params = { business_unit_id: unit.id };
                      const save = (name: string) => renameUnit.mutate({ params, body: { name } });
                      setNaming({ title: `Rename ${unit.name}`, name: unit.name, save });
                    }}
                  />
                  <DeleteButton
                    name={unit.name}
                    reason={unit.locations.length === 0 ? null : 'Delete its locations first.'}
                    onClick={() => deleteUnit.mutate({ params: { business_unit_id: unit.id } })}
                  />
                </Group>
              </Group>
              <ul className="plain-list">
                {unit.locations.map((location) => (
                  <li key={location.id}>
                    <div>
                      <Text size="sm">{location.name}</Text>
                      <ItemCount location={location} />
                    </div>
                    <Group gap={4} wrap="nowrap">
                      <RenameButton
                        name={location.name}
                        onClick={() => {
                          const params = { location_id: location.id };
                          const save = (name: string) => renameLocation.mutate({ params, body: { name } });
                          setNaming({ title: `Rename ${location.name}`, name: location.name, save });
                        }}
                      />
                      <DeleteButton name={location.name} reason={null} onClick={() => setLeaving(location)} />
                    </Group>
                  </li>
                ))}
                {unit.locations.length === 0 ? (
                  <li>
                    <Text size="sm" c="dimmed">
                      No locations yet.
                    </Text>
                  </li>
                ) : null}
              </ul>
            </section>
          ))}
        </DoubleClickGuard>
      </Stack>
      <NameDialog naming={naming} isSaving={isSaving} onClose={() => setNaming(null)} />
      <Confirm
        isOpen={leaving !== null}
        title={`Delete ${leaving?.name ?? ''}?`}
        verb="Delete"
        keep="Keep the location"
        isDangerous
        isBusy={deleteLocation.isPending}
        onClose={() => setLeaving(null)}
        onConfirm={() =>
          leaving !== null &&
          deleteLocation.mutate({ params: { location_id: leaving.id }, query: { items: leaving.items } })
        }
      >
        {leaving === null || leaving.items === 0
          ? 'No items lie there.'
          : `${formatNumber(leaving.items)} ${leaving.items === 1 ? 'item lies' : 'items lie'} there and will have no location. This can’t be undone.`}
      </Confirm>
    </SettingsPage>
  );
}

function shownIn(units: Unit[]): string {
  return units.map(({ id, locations }) => [id, ...locations.map((location) => location.id)].join()).join();
}

/** Watches and parts are two lists; the count leads to the first of them. */
function ItemCount({ location }: { location: Location }) {
  const text = `${formatNumber(location.items)} ${location.items === 1 ? 'item' : 'items'}`;
  if (location.items === 0) {
    return (
      <Text size="xs" c="dimmed">
        {text}
      </Text>
    );
  }
  return (
    <Link to={paths.watches()} search={{ location_id: location.id } as never} className="small-link">
      {text}
    </Link>
  );
}

function RenameButton({ name, onClick }: { name: string; onClick: () => void }) {
  return (
    <Button size="xs" variant="subtle" aria-label={`Rename ${name}`} onClick={onClick}>
      Rename
    </Button>
  );
}

type DeleteProps = { name: string; reason: string | null; onClick: () => void };

function DeleteButton({ name, reason, onClick }: DeleteProps) {
  return (
    <Button
      size="xs"
      variant="subtle"
      color="ruby"
      aria-label={`Delete ${name}`}
      title={reason ?? undefined}
      disabled={reason !== null}
      onClick={onClick}
    >
      Delete
    </Button>
  );
}

type NameDialogProps = { naming: Naming | null; isSaving: boolean; onClose: () => void };

function NameDialog({ naming, isSaving, onClose }: NameDialogProps) {
  return (
    <Dialog opened={naming !== null} onClose={onClose} title={naming?.title}>
      {naming === null ? null : <NameForm naming={naming} isSaving={isSaving} />}
    </Dialog>
  );
}

function NameForm({ naming, isSaving }: { naming: Naming; isSaving: boolean }) {
  const form = useForm({ initialValues: { name: naming.name } });
  return (
    <form onSubmit={form.onSubmit(({ name }) => naming.save(name))}>
      <Stack>
        <TextField label="Name" maxLength={500} required data-autofocus {...form.getInputProps('name')} />
        <Button type="submit" loading={isSaving}>
          Save
        </Button>
      </Stack>
    </form>
  );
}

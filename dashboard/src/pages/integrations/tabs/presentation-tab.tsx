import { Anchor, Button, Group, NumberInput, Select, SimpleGrid, Stack, Table, Text, Title } from '@mantine/core';
import { useForm } from '@mantine/form';
import { keepPreviousData, useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import {
  IMAGE_FORMAT_LABELS,
  ROUNDING_LABELS,
} from '../../../../../src/contract/dashboard/integrations/integrations.ts';
import { MARKUP_MAX_BASIS_POINTS, MARKUP_MIN_BASIS_POINTS } from '../../../../../src/contract/dashboard/limits.ts';
import { api, type Input, type Output } from '../../../api/client.ts';
import { useOperation } from '../../../api/queries.ts';
import { formatMoney, formatNumber } from '../../../format.ts';
import { paths } from '../../../paths.ts';
import { toastUndo } from '../../../ui/feedback/undo-toast.tsx';
import { LeaveGuard } from '../../../ui/page/leave-guard.tsx';
import { Thumbnail } from '../../../ui/thumbnail.tsx';
import { refreshIntegration } from '../integration-parts.tsx';
import { type Integration, integrationsQuery } from '../integration-queries.ts';
import { Jobs } from './jobs.tsx';

type Settings = Input<'PUT /integrations/{integration_id}/presentation'>['body'];
type Preview = Output<'POST /integrations/{integration_id}/presentation/preview'>;
type Shown = Preview['items'][number]['before'];

const choices = (labels: Record<string, string>) => Object.entries(labels).map(([value, label]) => ({ value, label }));

export function PresentationTab({ integration }: { integration: Integration }) {
  const { id, presentation } = integration;
  const { currencies } = useSuspenseQuery(integrationsQuery).data;
  const form = useForm<Settings>({ initialValues: presentation });
  const save = useOperation('PUT /integrations/{integration_id}/presentation', {
    form,
    onSuccess(_, { body }) {
      form.setInitialValues(body);
      form.setValues(body);
      refreshIntegration(id);
      toastUndo('Saved. A job carries it into every item.', () => store(presentation));
    },
  });
  const store = (body: Settings) => save.mutate({ params: { integration_id: id }, body });
  const isDirty = form.isDirty();
  return (
    <Stack gap="xl" maw={860}>
      <LeaveGuard isDirty={isDirty} />
      <form onSubmit={form.onSubmit(store)}>
        <Stack>
          <SimpleGrid cols={{ base: 2, sm: 4 }}>
            <Select
              label="Currency"
              data={currencies.includes(presentation.currency) ? currencies : [...currencies, presentation.currency]}
              allowDeselect={false}
              searchable
              nothingFoundMessage="There is no exchange rate to that currency. Ask the operator of this service for one."
              {...form.getInputProps('currency')}
            />
            <NumberInput
              label="Markup"
              suffix=" %"
              decimalScale={2}
              min={MARKUP_MIN_BASIS_POINTS / 100}
              max={MARKUP_MAX_BASIS_POINTS / 100}
              value={form.values.markup_basis_points / 100}
              onChange={(value) => form.setFieldValue('markup_basis_points', Math.round(Number(value) * 100))}
              error={form.errors.markup_basis_points}
            />
            <Select
              label="Rounding"
              data={choices(ROUNDING_LABELS)}
              allowDeselect={false}
              {...form.getInputProps('rounding')}
            />
            <Select
              label="Photos"
              data={choices(IMAGE_FORMAT_LABELS)}
              allowDeselect={false}
              {...form.getInputProps('image_format')}
            />
          </SimpleGrid>
          <Group gap="xs">
            <Button type="submit" variant="default" disabled={!isDirty} loading={save.isPending}>
              Save prices and photos
            </Button>
            {isDirty ? (
              <Button variant="subtle" onClick={() => form.reset()}>
                Discard
              </Button>
            ) : null}
          </Group>
        </Stack>
      </form>
      <PreviewPanel id={id} settings={form.values} isDirty={isDirty} />
      <Jobs jobs={integration.jobs} />
    </Stack>
  );
}

function PreviewPanel({ id, settings, isDirty }: { id: string; settings: Settings; isDirty: boolean }) {
  const { data } = useQuery({
    queryKey: ['preview', id, settings],
    queryFn: () =>
      api('POST /integrations/{integration_id}/presentation/preview', {
        params: { integration_id: id },
        body: settings,
      }),
    placeholderData: keepPreviousData,
    meta: { kinds: ['item', 'integration', 'job'] },
  });
  if (data === undefined) return null;
  return (
    <Stack gap="xs">
      <Title order={2} size="h4">
        Preview
      </Title>
      <Text size="sm" role="status">
        {sentence(data, isDirty)}
      </Text>
      {data.items.length === 0 ? null : <PreviewTable items={data.items} />}
    </Stack>
  );
}

function sentence(preview: Preview, isDirty: boolean): string {
  const { touched, on_channel: onChannel } = preview;
  if (preview.is_rate_missing) return 'There is no exchange rate to this currency, so that it can’t be saved.';
  if (onChannel === 0) return 'Nothing is on this channel yet.';
  const count = onChannel === 1 ? '1 is' : `${formatNumber(onChannel)} are`;
  if (!isDirty) return `This is how the website reads your items now. ${count} on this channel.`;
  if (touched === 0) return 'No item would change.';
  if (onChannel === 1) return '1 item would change, with an event for it.';
  return `${formatNumber(touched)} of ${formatNumber(onChannel)} items would change, with an event for each.`;
}

function PreviewTable({ items }: { items: Preview['items'] }) {
  return (
    <Table verticalSpacing="xs" aria-label="Preview">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Item</Table.Th>
          <Table.Th ta="right">Now</Table.Th>
          <Table.Th ta="right">Then</Table.Th>
          <Table.Th visibleFrom="sm">Photo</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {items.map((item) => (
          <Table.Tr key={item.id}>
            <Table.Td>
              <Group gap="sm" wrap="nowrap">
                <Thumbnail kind={item.kind} url={item.thumbnail_url} />
                <div className="item-name">
                  <Anchor size="sm" renderRoot={(props) => <Link to={paths.item(item.id)} {...props} />}>
                    {item.title}
                  </Anchor>
                  <Text size="xs" c="dimmed">
                    {item.stock_number}
                  </Text>
                </div>
              </Group>
            </Table.Td>
            <Table.Td ta="right">{priceOf(item.before)}</Table.Td>
            <Table.Td ta="right" fw={600}>
              {priceOf(item.after)}
            </Table.Td>
            <Table.Td visibleFrom="sm">
              {item.after.photo_url === null ? '–' : item.after.photo_url.split('.').at(-1)}
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

function priceOf({ price }: Shown): string {
  return price === null ? 'on request' : formatMoney(price.amount, price.currency);
}

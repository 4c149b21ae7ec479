import { Alert, Button, Fieldset, Group, Select, SimpleGrid, Stack, Switch, Text, Title } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useSuspenseQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { Input, Output } from '../../api/client.ts';
import { queryClient, useOperation } from '../../api/queries.ts';
import { useOwnerOnlyReason } from '../../shell/session/session.ts';
import { TextField } from '../../ui/fields/text-field.tsx';
import { LeaveGuard } from '../../ui/page/leave-guard.tsx';
import { Status } from '../../ui/status.tsx';
import { COUNTRIES, CURRENCIES, TAX_TREATMENTS, TIME_ZONES } from './business-choices.ts';
import { businessQuery } from './settings-queries.ts';
import { SettingsPage } from './settings-tabs.tsx';

type Business = Output<'GET /business'>;
type Change = Input<'PATCH /business'>['body'];
type Address = Business['address'];
type Values = Record<Exclude<keyof Change, 'revision' | 'address'>, string> & {
  address: Record<keyof Address, string>;
};

const TEXT_LIMIT = 500;

export function BusinessPage() {
  const { data: business } = useSuspenseQuery(businessQuery);
  return (
    <SettingsPage>
      <Stack gap="xl" maw={640}>
        <BusinessForm business={business} />
        <CostAccess business={business} />
        <Operator business={business} />
      </Stack>
    </SettingsPage>
  );
}

const keep = (business: Business) => {
  queryClient.setQueryData(businessQuery.queryKey, business);
};

/** Begins from what was read first: a live update changes no field that is being edited. */
function BusinessForm({ business }: { business: Business }) {
  const reason = useOwnerOnlyReason();
  const [begun, setBegun] = useState(business);
  const [theirs, setTheirs] = useState<Business | null>(null);
  const form = useForm<Values>({ initialValues: valuesOf(business) });
  const begin = (from: Business) => {
    setBegun(from);
    setTheirs(null);
    form.setInitialValues(valuesOf(from));
    form.setValues(valuesOf(from));
    form.resetDirty(valuesOf(from));
  };
  const save = useOperation('PATCH /business', {
    success: 'Saved. Your sites are being brought up to date.',
    onSuccess(saved) {
      keep(saved);
      begin(saved);
    },
    onFailure(error) {
      if (error.code !== 'changed_meanwhile') return false;
      void queryClient.fetchQuery({ ...businessQuery, staleTime: 0 }).then(setTheirs);
      return true;
    },
    form,
  });
  const submit = (values: Values, revision = begun.revision) =>
    save.mutate({ body: { revision, ...changesOf(values, begun) } });
  // Nobody is typing: show what a colleague has just saved.
  const isStale = !form.isDirty() && business.revision !== begun.revision;
  // biome-ignore lint/correctness/useExhaustiveDependencies: begins anew once for each such revision.
  useEffect(() => {
    if (isStale) begin(business);
  }, [isStale, business.revision]);
  return (
    <section aria-labelledby="business">
      <Title order={2} size="h4" id="business" mb="sm">
        Business
      </Title>
      <LeaveGuard isDirty={form.isDirty()} />
      {theirs === null ? null : (
        <Conflict
          mine={form.values}
          theirs={theirs}
          begun={begun}
          onMine={() => submit(form.values, theirs.revision)}
          onTheirs={() => begin(theirs)}
        />
      )}
      <form onSubmit={form.onSubmit((values) => submit(values))}>
        <Fieldset variant="unstyled" disabled={reason !== null}>
          <Stack gap="sm">
            <TextField label="Name" maxLength={TEXT_LIMIT} required {...form.getInputProps('name')} />
            <TextField label="Street" maxLength={TEXT_LIMIT} {...form.getInputProps('address.line1')} />
            <TextField label="Further line" maxLength={TEXT_LIMIT} {...form.getInputProps('address.line2')} />
            <SimpleGrid cols={{ base: 1, xs: 3 }} spacing="sm">
              <TextField label="Postal code" maxLength={TEXT_LIMIT} {...form.getInputProps('address.postal_code')} />
              <TextField label="City" maxLength={TEXT_LIMIT} {...form.getInputProps('address.city')} />
              <TextField label="State or canton" maxLength={TEXT_LIMIT} {...form.getInputProps('address.state')} />
            </SimpleGrid>
            <Select
              label="Country"
              data={COUNTRIES}
              searchable
              clearable
              {...form.getInputProps('address.country')}
              value={form.values.address.country || null}
              onChange={(value) => form.setFieldValue('address.country', value ?? '')}
            />
            <Select
              label="Tax"
              description="For items that have no tax treatment of their own."
              data={TAX_TREATMENTS}
              allowDeselect={false}
              {...form.getInputProps('default_tax_treatment')}
            />
            <Select
              label="Currency"
              description="Of your own prices. Amounts stay as they are: 1,000 becomes 1,000 of the new currency."
              data={CURRENCIES}
              searchable
              allowDeselect={false}
              {...form.getInputProps('currency')}
            />
            <Select
              label="Time zone"
              description="Promotions begin and end in it."
              data={TIME_ZONES}
              searchable
              allowDeselect={false}
              {...form.getInputProps('time_zone')}
            />
            <Group>
              <Button type="submit" disabled={!form.isDirty()} loading={save.isPending}>
                Save
              </Button>
              {reason === null ? null : (
                <Text size="sm" c="dimmed">
                  {reason}
                </Text>
              )}
            </Group>
          </Stack>
        </Fieldset>
      </form>
    </section>
  );
}

type ConflictProps = { mine: Values; theirs: Business; begun: Business; onMine: () => void; onTheirs: () => void };

/** A colleague was faster: what both changed stands side by side, and the person chooses. */
function Conflict({ mine, theirs, begun, onMine, onTheirs }: ConflictProps) {
  const own = flat(mine);
  const other = flat(valuesOf(theirs));
  const before = flat(valuesOf(begun));
  const differing = Object.keys(own).filter((field) => own[field] !== other[field] && other[field] !== before[field]);
  return (
    <Alert
      color="brass"
      title="Other settings have been saved meanwhile, by a colleague or by you in another window."
      mb="md"
    >
      <Stack gap="xs">
        {differing.length === 0 ? (
          <Text size="sm">Different fields were changed: both changes can stand.</Text>
        ) : (
          differing.map((field) => (
            <Text size="sm" key={field}>
              {field.replaceAll('_', ' ')}: yours is “{own[field]}”, saved is “{other[field]}”.
            </Text>
          ))
        )}
        <Group>
          <Button size="xs" onClick={onMine}>
            Save mine
          </Button>
          <Button size="xs" variant="default" onClick={onTheirs}>
            Take what is saved
          </Button>
        </Group>
      </Stack>
    </Alert>
  );
}

function CostAccess({ business }: { business: Business }) {
  const reason = useOwnerOnlyReason();
  const change = useOperation('PUT /business/cost-access', { success: 'Saved.', onSuccess: keep });
  return (
    <section aria-labelledby="cost">
      <Title order={2} size="h4" id="cost" mb="sm">
        Cost prices
      </Title>
      <Switch
        label="Staff may see cost prices"
        description={reason ?? 'Owners always see them. No website ever does.'}
        checked={change.isPending ? change.variables.body.staff_sees_cost : business.staff_sees_cost}
        disabled={reason !== null}
        onChange={(event) => change.mutate({ body: { staff_sees_cost: event.currentTarget.checked } })}
      />
    </section>
  );
}

function Operator({ business: { operator } }: { business: Business }) {
  return (
    <section aria-labelledby="operator">
      <Title order={2} size="h4" id="operator" mb="sm">
        Set by the operator of this service
      </Title>
      <ul className="plain-list">
        <li>
          <Text size="sm">Plan with integrations</Text>
          <Status tone={operator.has_integration_plan ? 'good' : 'off'}>
            {operator.has_integration_plan ? 'On' : 'Off: the API answers 403'}
          </Status>
        </li>
        <li>
          <Text size="sm">Account</Text>
          <Status tone={operator.is_provisioned ? 'good' : 'off'}>
            {operator.is_provisioned ? 'Set up' : 'Not set up: the API answers 403'}
          </Status>
        </li>
      </ul>
    </section>
  );
}

function valuesOf(business: Business): Values {
  const { name, currency, time_zone, default_tax_treatment, address } = business;
  const { line1, line2, city, state, postal_code, country } = address;
  return {
    name,
    currency,
    time_zone,
    default_tax_treatment,
    address: {
      line1: line1 ?? '',
      line2: line2 ?? '',
      city: city ?? '',
      state: state ?? '',
      postal_code: postal_code ?? '',
      country: country ?? '',
    },
  };
}

/** Only what was edited is sent, so that a colleague's change of another field stands. */
function changesOf(values: Values, begun: Business): Omit<Change, 'revision'> {
  const before = valuesOf(begun);
  const { address, ...rest } = values;
  const edited = Object.fromEntries(
    Object.entries(rest).filter(([field, value]) => value !== before[field as keyof typeof rest]),
  );
  const isMoved = JSON.stringify(address) !== JSON.stringify(before.address);
  const lines = Object.fromEntries(Object.entries(address).map(([field, text]) => [field, text.trim() || null]));
  return { ...edited, ...(isMoved ? { address: lines as Address } : {}) };
}

function flat({ address, ...rest }: Values): Record<string, string> {
  return { ...rest, ...address };
}

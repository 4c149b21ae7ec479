import { Button, Group, Select, Stack, Stepper, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useSuspenseQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { Output } from '../../api/client.ts';
import { queryClient, useOperation } from '../../api/queries.ts';
import { paths } from '../../paths.ts';
import { useOwnerOnlyReason } from '../../shell/session/session.ts';
import { DoubleClickGuard } from '../../ui/double-click-guard.tsx';
import { TextField } from '../../ui/fields/text-field.tsx';
import { LeaveGuard } from '../../ui/page/leave-guard.tsx';
import { Page } from '../../ui/page/page.tsx';
import { integrationsQuery } from './integration-queries.ts';
import { ReasonButton } from './reason-button.tsx';
import { Command, meCommand, ShownOnce } from './shown-once.tsx';
import { TestEventButton, TestEventResult, useTestEvent } from './tabs/test-event.tsx';
import { UrlForm } from './tabs/url-form.tsx';

type Made = Output<'POST /integrations'>;

/** Four steps from a name to a test event that has arrived. The key and the secret live on this page alone. */
export function WizardPage() {
  const navigate = useNavigate();
  const [step, setStep] = useState(0);
  const [made, setMade] = useState<Made | null>(null);
  const [secret, setSecret] = useState<string | null>(null);
  const [isSaved, setSaved] = useState(false);
  const finish = () => made !== null && void navigate({ to: paths.integration(made.id), ignoreBlocker: true });
  return (
    <Page title="New integration">
      <LeaveGuard isDirty={step === 1} what="the API key, which is shown this once," />
      <LeaveGuard isDirty={step === 2 && secret !== null} what="the signing secret, which is shown this once," />
      <Stack maw={720} gap="lg">
        <Stepper active={step} size="sm" allowNextStepsSelect={false} wrap={false} className="wizard-steps">
          <Stepper.Step label="Name" allowStepSelect={false} />
          <Stepper.Step label="API key" allowStepSelect={false} />
          <Stepper.Step label="Webhooks" allowStepSelect={false} />
          <Stepper.Step label="Test event" allowStepSelect={false} />
        </Stepper>
        {step === 0 ? (
          <NameStep
            onMade={(answer) => {
              setMade(answer);
              setStep(1);
            }}
          />
        ) : null}
        {step === 1 && made !== null ? (
          <>
            <ShownOnce
              label="API key"
              value={made.api_key}
              note="Store it where the website keeps its secrets. It is shown this once; a lost key is replaced by a new one."
            />
            <Command label="Try it" text={meCommand(made.api_key)} />
            <Next onNext={() => setStep(2)}>I have stored the key</Next>
          </>
        ) : null}
        {step === 2 && made !== null ? (
          <>
            <UrlForm
              integrationId={made.id}
              url={null}
              reason={null}
              onSecret={setSecret}
              onSaved={() => setSaved(true)}
            />
            {secret === null ? null : (
              <ShownOnce
                label="Signing secret"
                value={secret}
                note="With it the website verifies that a webhook comes from here. It is shown this once."
              />
            )}
            <Next onNext={() => setStep(3)} skip={finish} isReady={isSaved}>
              {secret === null ? 'Next' : 'I have stored the secret'}
            </Next>
          </>
        ) : null}
        {step === 3 && made !== null ? <TestStep integrationId={made.id} onFinish={finish} /> : null}
      </Stack>
    </Page>
  );
}

function NameStep({ onMade }: { onMade: (made: Made) => void }) {
  const { currencies } = useSuspenseQuery(integrationsQuery).data;
  const reason = useOwnerOnlyReason();
  const form = useForm({ initialValues: { name: '', currency: currencies[0] ?? '' } });
  const create = useOperation('POST /integrations', {
    form,
    onSuccess(made) {
      void queryClient.invalidateQueries({ queryKey: integrationsQuery.queryKey });
      onMade(made);
    },
  });
  const submit = () => reason === null && create.mutate({ body: form.values });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <Stack>
        <TextField
          label="Name"
          description="As you call the website. At most 500 characters."
          placeholder="e.g. Our website"
          required
          maxLength={500}
          data-autofocus
          {...form.getInputProps('name')}
        />
        <Select
          label="Currency"
          description="In which the website shows prices. Only currencies with an exchange rate can be chosen."
          data={currencies}
          allowDeselect={false}
          searchable
          nothingFoundMessage="There is no exchange rate to that currency. Ask the operator of this service for one."
          {...form.getInputProps('currency')}
        />
        <Text size="sm" c="dimmed">
          It begins in test mode: its orders touch no stock until you go live.
        </Text>
        <Group justify="flex-end">
          <ReasonButton type="submit" reason={reason} loading={create.isPending} onClick={() => {}}>
            Create
          </ReasonButton>
        </Group>
      </Stack>
    </form>
  );
}

type NextProps = { onNext: () => void; skip?: () => void; isReady?: boolean; children: string };

function Next({ onNext, skip, isReady = true, children }: NextProps) {
  return (
    <Group justify="flex-end">
      <DoubleClickGuard>
        {skip === undefined ? null : (
          <Button variant="subtle" onClick={skip}>
            Without webhooks for now
          </Button>
        )}
        <ReasonButton reason={isReady ? null : 'Save a webhook URL first.'} onClick={onNext}>
          {children}
        </ReasonButton>
      </DoubleClickGuard>
    </Group>
  );
}

function TestStep({ integrationId, onFinish }: { integrationId: string; onFinish: () => void }) {
  const test = useTestEvent(integrationId);
  return (
    <>
      <Text>Send an event to the website and watch it arrive.</Text>
      <TestEventResult integrationId={integrationId} test={test} />
      <Group justify="flex-end">
        <DoubleClickGuard>
          <Button variant="default" onClick={onFinish}>
            Finish
          </Button>
          <TestEventButton test={test} />
        </DoubleClickGuard>
      </Group>
    </>
  );
}

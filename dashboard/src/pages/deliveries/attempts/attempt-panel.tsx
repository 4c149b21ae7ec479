import { CopyButton, Group, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { formatDuration } from '../../../format.ts';
import { Status } from '../../../ui/status.tsx';
import { Time } from '../../../ui/time.tsx';
import { Facts } from '../../integrations/integration-parts.tsx';
import { Answer } from '../../integrations/tabs/test-event.tsx';
import type { Attempt } from '../delivery-queries.ts';
import { curlOf } from './curl.ts';
import { plainError, shownError } from './plain-error.ts';

type AttemptPanelProps = { attempt: Attempt; body: string; isReplay: boolean; isOpen: boolean };

/** One attempt: what was sent where, how long it took, and what came back. */
export function AttemptPanel({ attempt, body, isReplay, isOpen }: AttemptPanelProps) {
  return (
    <details className="panel attempt" open={isOpen}>
      <summary>
        <Group gap="sm" component="span">
          <Status tone={attempt.is_success ? 'good' : 'bad'}>{resultOf(attempt)}</Status>
          {attempt.attempt === null ? null : (
            <span>{`${isReplay ? 'Replay, attempt' : 'Attempt'} ${attempt.attempt}`}</span>
          )}
          <Text component="span" size="sm" c="dimmed">
            <Time at={attempt.ended_at} />
            {attempt.duration_ms === null ? '' : `, took ${formatDuration(attempt.duration_ms)}`}
          </Text>
        </Group>
      </summary>
      <Facts facts={factsOf(attempt)} />
      {wasSent(attempt) ? <SignatureCheck attempt={attempt} /> : null}
      <CurlButton attempt={attempt} body={body} />
    </details>
  );
}

/** A replay counts its attempts from 1 again: which of these, newest first, are of one. */
export function replaysIn(attempts: readonly Attempt[]): boolean[] {
  let isReplay = false;
  let before = 0;
  const oldestFirst = attempts.toReversed().map(({ attempt }) => {
    isReplay ||= attempt !== null && attempt <= before;
    before = attempt ?? before;
    return isReplay;
  });
  return oldestFirst.toReversed();
}

function resultOf({ response_code: code, error, is_success: isSuccess }: Attempt): string {
  if (code === null) return error === null ? 'No answer' : plainError(error).short;
  return isSuccess ? `Delivered, ${code}` : `Failed, ${code}`;
}

function factsOf(attempt: Attempt): Parameters<typeof Facts>[0]['facts'] {
  if (!wasSent(attempt)) return [['Address', attempt.url ?? 'Not recorded'], ...errorFactsOf(attempt.error ?? '')];
  const headers = Object.entries(attempt.headers);
  return [
    ['Address', attempt.url ?? 'Not recorded'],
    ...(attempt.error === null ? [] : errorFactsOf(attempt.error)),
    [
      'Answer',
      attempt.response_body === null ? (
        attempt.response_code === null ? (
          'None'
        ) : (
          'Empty'
        )
      ) : (
        <Answer key="answer" text={attempt.response_body} />
      ),
    ],
    [
      'Headers',
      headers.length === 0 ? (
        'Not recorded'
      ) : (
        <Answer key="headers" text={headers.map(([name, value]) => `${name}: ${value}`).join('\n')} />
      ),
    ],
  ];
}

function errorFactsOf(error: string): [string, string][] {
  const { advice } = plainError(error);
  return [['Error', shownError(error)], ...(advice === null ? [] : ([['What to do', advice]] as [string, string][]))];
}

/** Without a connection nothing left the service: neither headers nor a signature. */
function wasSent({ response_code: code, error }: Attempt): boolean {
  return code !== null || error === null || plainError(error).isSent !== false;
}

/** The signature as it was computed again, and whether the one that a receiver got is the same. */
function SignatureCheck({ attempt }: { attempt: Attempt }) {
  const [given, setGiven] = useState('');
  const { verified_with: count, problem } = attempt.signature;
  const sent = attempt.headers['X-SVC-Signature'];
  if (problem !== null || sent === undefined) {
    return (
      <Text size="sm" my="xs">
        <Status tone="off">Signature not verified</Status> {problem}
      </Text>
    );
  }
  return (
    <>
      <Text size="sm" my="xs" component="div">
        <Status tone="good">Signature verified</Status>{' '}
        {count === 1 ? 'With the signing secret of that time.' : `With ${count} signing secrets of that time.`}
      </Text>
      <TextInput
        size="xs"
        label="Compare with the X-SVC-Signature that the website received"
        placeholder="e.g. t=…,v1=…"
        value={given}
        onChange={(event) => setGiven(event.currentTarget.value)}
        error={given === '' || isSame(given, sent) ? undefined : differenceOf(given, sent)}
        description={given !== '' && isSame(given, sent) ? 'The same: secret, time and bytes agree.' : undefined}
      />
    </>
  );
}

const partsOf = (header: string, name: string) =>
  header
    .trim()
    .split(',')
    .flatMap((part) => (part.startsWith(`${name}=`) ? part.slice(name.length + 1) : []));

function isSame(given: string, sent: string): boolean {
  const signatures = partsOf(sent, 'v1');
  return (
    partsOf(given, 't')[0] === partsOf(sent, 't')[0] && partsOf(given, 'v1').some((one) => signatures.includes(one))
  );
}

function differenceOf(given: string, sent: string): string {
  return partsOf(given, 't')[0] === partsOf(sent, 't')[0]
    ? 'It differs. It was made with another secret, or over other bytes.'
    : 'It is of another attempt: its t differs.';
}

function CurlButton({ attempt, body }: { attempt: Attempt; body: string }) {
  if (attempt.url === null || Object.keys(attempt.headers).length === 0) return null;
  return (
    <CopyButton value={curlOf(attempt.url, attempt.headers, body)}>
      {({ copied, copy }) => (
        <Text size="sm" mt="xs">
          <button type="button" className="text-button" onClick={copy}>
            {copied ? 'Copied' : 'Copy as curl'}
          </button>
        </Text>
      )}
    </CopyButton>
  );
}

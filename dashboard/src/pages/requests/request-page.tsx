import { Anchor, Group, Text } from '@mantine/core';
import { useSuspenseQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { pathOfId, paths } from '../../paths.ts';
import { CopyId } from '../../ui/copy-id.tsx';
import { Page } from '../../ui/page/page.tsx';
import { PageLink } from '../../ui/page/page-link.tsx';
import { Time } from '../../ui/time.tsx';
import { ErrorMeaning } from './error-meaning.tsx';
import { type RequestPage as RequestData, requestQuery } from './request-queries.ts';
import { RequestStatus } from './request-status.tsx';
import './request.css';

export function RequestPage() {
  const { id = '' } = useParams({ strict: false }) as { id?: string };
  const { data } = useSuspenseQuery(requestQuery(id));
  const { request } = data;
  return (
    <Page title={`${request.method} ${request.route ?? 'unknown path'}`}>
      <Group gap="md" mb="md">
        <RequestStatus request={request} />
        <Text size="sm" c="dimmed">
          <Anchor component={Link} to={paths.integration(request.integration_id)} inherit>
            {data.integration_name}
          </Anchor>
          , <Time at={request.at} />
        </Text>
        <CopyId id={request.id} label="request id" />
      </Group>
      <RequestFacts data={data} />
    </Page>
  );
}

function RequestFacts({
  data: { request, error, is_original_logged: isOriginalLogged, replay_ids: replayIds },
}: {
  data: RequestData;
}) {
  const { object_id: objectId, original_request_id: originalId, idempotency_key: key } = request;
  return (
    <dl className="request-facts">
      {error === null ? null : (
        <Fact name="What it means">
          <ErrorMeaning request={request} error={error} />
        </Fact>
      )}
      {originalId === null ? null : (
        <Fact name="Replay of">
          {isOriginalLogged ? <RequestLink id={originalId} /> : <code>{originalId}</code>}
          <Text size="sm" c="dimmed">
            The idempotency key had been used before. The first answer was sent again, and nothing was written.
          </Text>
        </Fact>
      )}
      {replayIds.length === 0 ? null : (
        <Fact name="Replayed by">
          {replayIds.map((id) => (
            <div key={id}>
              <RequestLink id={id} />
            </div>
          ))}
        </Fact>
      )}
      {objectId === null ? null : (
        <Fact name="Made or changed">
          <ObjectLink id={objectId} />
        </Fact>
      )}
      {request.ignored_fields.length === 0 ? null : (
        <Fact name="Ignored fields">
          {request.ignored_fields.map(({ path, meant }) => (
            <div key={path}>
              <code>{path}</code>
              {meant === null ? null : (
                <>
                  {' '}
                  (did you mean <code>{meant}</code>?)
                </>
              )}
            </div>
          ))}
        </Fact>
      )}
      {request.query.length === 0 ? null : (
        <Fact name="Query">
          {request.query.map(({ name, value }) => (
            <div key={name}>
              <code>{value === null ? `${name} (a cursor)` : `${name}=${value}`}</code>
            </div>
          ))}
        </Fact>
      )}
      {key === null ? null : (
        <Fact name="Idempotency key">
          <CopyId id={key} label="idempotency key" />
        </Fact>
      )}
      <Fact name="API key">
        <code>{request.key_hint}</code>
      </Fact>
      <Fact name="Duration">{`${request.duration_ms} ms`}</Fact>
    </dl>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function RequestLink({ id }: { id: string }) {
  return (
    <Anchor component={Link} to={paths.request(id)} inherit>
      <code>{id}</code>
    </Anchor>
  );
}

/** What has no page yet is named without a link. */
function ObjectLink({ id }: { id: string }) {
  const path = pathOfId(id);
  if (path === null) return <CopyId id={id} />;
  return (
    <PageLink to={path} area={path.slice(0, path.lastIndexOf('/'))}>
      <code>{id}</code>
    </PageLink>
  );
}

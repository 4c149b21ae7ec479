import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { paths } from '../../paths.ts';
import { DocsLink } from '../../ui/docs-link.tsx';
import { TextLink } from '../../ui/text-link.tsx';
import { withCode } from '../../ui/with-code.tsx';
import type { RequestPage } from './request-queries.ts';

type ErrorMeaningProps = {
  request: RequestPage['request'];
  error: NonNullable<RequestPage['error']>;
};

/**
 * What an error means for the dealer, who reads this page. The catalogue speaks to whoever builds the website: where the
 * dealer can act, the page says how instead.
 */
export function ErrorMeaning({ request, error }: ErrorMeaningProps) {
  const code = request.code ?? '';
  const action = DEALER_ACTIONS[code];
  return (
    <>
      {action === undefined ? (
        <>
          <Text size="sm">The website was told:</Text>
          <blockquote className="told">
            <Text size="sm">{withCode(error.cause)}</Text>
            <Text size="sm">{withCode(error.recovery)}</Text>
          </blockquote>
        </>
      ) : (
        <Text size="sm">{action(request)}</Text>
      )}
      <Text size="sm" c="dimmed">
        {request.method === 'POST' && (request.status ?? 500) < 500
          ? 'Nothing was written, so no event was recorded and no webhook is sent. '
          : ''}
        {ALSO_TOLD[code] === undefined ? '' : `${ALSO_TOLD[code]} `}
        <DocsLink to={`/errors#${code}`}>
          <code>{code}</code> in the docs
        </DocsLink>
      </Text>
    </>
  );
}

/** By code: what has to be done on the dealer's side. It may have been done since. */
const DEALER_ACTIONS: Readonly<Record<string, (request: RequestPage['request']) => ReactNode>> = {
  integration_disabled: ({ integration_id: id }) => (
    <>
      This integration was switched off when the request came. If it still is,{' '}
      <TextLink to={paths.integration(id)}>switch it on</TextLink>. The website keeps its API key.
    </>
  ),
  subscription_required: () => (
    <>
      Your plan did not include integrations when the request came.{' '}
      <TextLink to={paths.business()}>Your business settings</TextLink> say whether it does now. If not, ask the
      operator of this service. The website keeps its API key.
    </>
  ),
  integration_not_provisioned: () => (
    <>
      Your account was not set up when the request came, or it was archived.{' '}
      <TextLink to={paths.business()}>Your business settings</TextLink> say whether it is now. If not, ask the operator
      of this service. The website keeps its API key.
    </>
  ),
  integration_org_missing: () => (
    <>
      This integration was not attached to your business when the request came. If it is missing in{' '}
      <TextLink to={paths.integrations()}>your integrations</TextLink>, ask the operator of this service to attach it
      again. The website keeps its API key.
    </>
  ),
  order_matched: () => (
    <>
      The website wanted to cancel an order that you have confirmed. If you agree, void its sale in{' '}
      <TextLink to={paths.sales()}>your sales</TextLink>, and the website can cancel it.
    </>
  ),
  customer_contact_conflict: () => (
    <>
      The email and the phone that the website sent belong to different customers of yours, or to one with another id of
      the website. If they are the same person, merge them in <TextLink to={paths.customers()}>your customers</TextLink>
      , and the website can send them again.
    </>
  ),
};

/** By code: what the answer carries besides its message. The log does not keep it. */
const ALSO_TOLD: Readonly<Record<string, string>> = {
  invalid_request: 'The answer to the website also named the field or header that is wrong.',
  duplicate_channel_order_id: 'The answer to the website also named the order that is there.',
  not_available: 'The answer to the website also said how many units are left.',
};

import { List, Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { queryClient, useOperation } from '../../api/queries.ts';
import { paths } from '../../paths.ts';
import { useOwnerOnlyReason } from '../../shell/session/session.ts';
import { Confirm } from '../../ui/feedback/confirm.tsx';
import { ReasonButton } from '../integrations/reason-button.tsx';
import { type CustomerPage, customerQuery, nameOf } from './customer-queries.ts';

/** Erases the person for ever; the dialog says what goes and what stays. */
export function EraseCustomer({ customer }: { customer: CustomerPage }) {
  const navigate = useNavigate();
  const reason = useOwnerOnlyReason();
  const [isAsking, setAsking] = useState(false);
  const erase = useOperation('POST /customers/{customer_id}/erase', {
    success: 'Erased. What is left in orders, events and logs is being removed.',
    async onSuccess() {
      await navigate({ to: paths.customers(), replace: true });
      queryClient.removeQueries({ queryKey: customerQuery(customer.id).queryKey });
    },
  });
  return (
    <>
      <ReasonButton variant="outline" color="ruby" reason={reason} onClick={() => setAsking(true)}>
        Erase this person
      </ReasonButton>
      <Confirm
        isOpen={isAsking}
        title={`Erase ${nameOf(customer)}`}
        verb="Erase for ever"
        keep="Keep this person"
        isDangerous
        isBusy={erase.isPending}
        onConfirm={() => erase.mutate({ params: { customer_id: customer.id } })}
        onClose={() => setAsking(false)}
      >
        <Text size="sm">This can’t be undone.</Text>
        <List size="sm" my="xs" spacing={4}>
          <List.Item>The customer is gone at once, with what your channels call them.</List.Item>
          <List.Item>
            Their orders keep number, lines and amounts, and lose buyer, addresses, metadata and the reason of a
            cancellation. Your sites read these as empty from then on. No event is sent.
          </List.Item>
          <List.Item>Sales and what they brought stay, without a buyer.</List.Item>
          <List.Item>
            Events, webhooks that are still to be sent, stored answers and logs lose the person, too.
          </List.Item>
        </List>
        <Text size="sm">
          What your sites have stored themselves, files that you have downloaded, and backups are not changed.
        </Text>
      </Confirm>
    </>
  );
}

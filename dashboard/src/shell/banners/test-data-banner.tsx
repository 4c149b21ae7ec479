import { Button } from '@mantine/core';
import { queryClient, useOperation } from '../../api/queries.ts';
import { sessionQuery, useSession } from '../session/session.ts';

/** Test orders among real ones must never be mistaken: while they are shown, every page says so. */
export function TestDataBanner() {
  const { user } = useSession();
  const update = useOperation('PATCH /account', {
    onSuccess(session) {
      queryClient.setQueryData(sessionQuery.queryKey, session);
      void queryClient.invalidateQueries();
    },
  });
  if (!user.show_test_data) return null;
  return (
    <div className="banner" role="status">
      <span>Test data is shown among your own.</span>
      <Button
        size="compact-xs"
        variant="default"
        loading={update.isPending}
        onClick={() => update.mutate({ body: { show_test_data: false } })}
      >
        Hide it
      </Button>
    </div>
  );
}

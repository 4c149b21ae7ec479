import { queryClient, useOperation } from '../../api/queries.ts';
import { toastSuccess } from '../../ui/feedback/toasts.ts';
import { toastUndo } from '../../ui/feedback/undo-toast.tsx';
import { fieldLabel } from './field-text.ts';

/** Takes changes back by their audit rows, and says which fields stay because somebody has changed them since. */
export function useUndo() {
  const undo = useOperation('POST /audit/{audit_id}/undo', {
    onSuccess({ skipped }) {
      const fields = skipped.map(fieldLabel).join(', ');
      toastSuccess(fields === '' ? 'Undone.' : `Undone, except what was changed since: ${fields}.`);
      void queryClient.invalidateQueries();
    },
  });
  const start = (auditId: string) => undo.mutate({ params: { audit_id: auditId } });
  return {
    isPending: undo.isPending,
    undo: start,
    /** Says what was done and offers to take it back, if there is anything to take back. */
    offer(message: string, auditId: string | null): void {
      if (auditId === null) toastSuccess(message);
      else toastUndo(message, () => start(auditId));
    },
  };
}

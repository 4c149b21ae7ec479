import { useRef } from 'react';
import { queryClient, useOperation } from '../../api/queries.ts';
import { toastSuccess } from '../../ui/feedback/toasts.ts';
import { toastUndo } from '../../ui/feedback/undo-toast.tsx';
import { fieldLabel } from './field-text.ts';

/** Takes changes back by their audit rows, and says which fields stay because somebody has changed them since. */
export function useUndo() {
  // What each was, for the message; it comes even when the page that began it is left.
  const begun = useRef(new Map<string, string>());
  const undo = useOperation('POST /audit/{audit_id}/undo', {
    onSuccess({ skipped }, { params }) {
      const fields = skipped.map(fieldLabel).join(', ');
      const message = fields === '' ? 'Undone.' : `Undone, except what was changed since: ${fields}.`;
      toastSuccess(message, begun.current.get(params.audit_id));
      void queryClient.invalidateQueries();
    },
  });
  const start = (auditId: string, what: string) => {
    begun.current.set(auditId, what);
    undo.mutate({ params: { audit_id: auditId } });
  };
  return {
    isPending: undo.isPending,
    undo: start,
    /** Says what was done and offers to take it back, if there is anything to take back. */
    offer(message: string, auditId: string | null): void {
      if (auditId === null) toastSuccess(message);
      else toastUndo(message, () => start(auditId, message.replace(/\.$/, '')));
    },
  };
}

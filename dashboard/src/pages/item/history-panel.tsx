import { Title } from '@mantine/core';
import { ObjectHistory } from '../audit/object-history.tsx';
import { UndoButton } from '../audit/undo-button.tsx';

/** Who did what to the item, newest first, with Undo where a change can be taken back. */
export function HistoryPanel({ itemId }: { itemId: string }) {
  return (
    <section className="item-section" aria-label="History">
      <Title order={2} size="h4">
        History
      </Title>
      <ObjectHistory kind="item" id={itemId} actionsOf={(entry) => <UndoButton entry={entry} />} />
    </section>
  );
}

import { Button, Group, Radio, Text } from '@mantine/core';
import { useState } from 'react';
import { useSession } from '../../../shell/session/session.ts';
import { Dialog } from '../../../ui/dialog.tsx';
import { fieldLabel, valueText } from '../../audit/field-text.ts';
import type { ItemChoices } from '../item-queries.ts';
import type { Choice, Conflict } from './conflicts.ts';

type ConflictDialogProps = {
  conflicts: Conflict[];
  /** Fields that only the colleague changed. */
  takenOver: string[];
  locations: ItemChoices['locations'];
  isSaving: boolean;
  onSave: (choices: Record<string, Choice>) => void;
  onClose: () => void;
};

/** Both versions side by side, field by field. Nothing is saved, and nothing is lost, until the person has chosen. */
export function ConflictDialog({ conflicts, takenOver, locations, isSaving, onSave, onClose }: ConflictDialogProps) {
  const [choices, setChoices] = useState<Record<string, Choice>>({});
  const { organization } = useSession();
  const names = Object.fromEntries(locations.map(({ id, name, business_unit: unit }) => [id, `${unit}, ${name}`]));
  const context = { currency: organization.currency, timeZone: organization.time_zone, names };
  return (
    <Dialog opened onClose={onClose} size="xl" title="This item has been saved meanwhile">
      <Text size="sm" mb="md">
        By a colleague, or by you in another window.{' '}
        {conflicts.length === 1 ? 'This field differs' : 'These fields differ'}. Choose which value to keep.
      </Text>
      {conflicts.map(({ field, mine, theirs }) => (
        <Radio.Group
          key={field}
          label={fieldLabel(field)}
          value={choices[field] ?? 'mine'}
          onChange={(value) => setChoices({ ...choices, [field]: value as Choice })}
          mb="md"
        >
          <div className="conflict-sides">
            <Side value="mine" label="Yours" text={valueText(field, mine, context)} />
            <Side value="theirs" label="Saved" text={valueText(field, theirs, context)} />
          </div>
        </Radio.Group>
      ))}
      {takenOver.length === 0 ? null : (
        <Text size="sm" c="dimmed">
          Changed only there, and kept: {takenOver.map(fieldLabel).join(', ')}.
        </Text>
      )}
      <Group justify="flex-end" mt="md">
        <Button variant="default" onClick={onClose}>
          Go on editing
        </Button>
        <Button loading={isSaving} onClick={() => onSave(choices)}>
          Save what I chose
        </Button>
      </Group>
    </Dialog>
  );
}

function Side({ value, label, text }: { value: Choice; label: string; text: string }) {
  return (
    <Radio.Card value={value} className="conflict-side" aria-label={`${label}: ${text}`}>
      <Group gap="sm" wrap="nowrap" align="flex-start">
        <Radio.Indicator />
        <div>
          <Text size="xs" c="dimmed">
            {label}
          </Text>
          <Text size="sm" className="conflict-text">
            {text}
          </Text>
        </div>
      </Group>
    </Radio.Card>
  );
}

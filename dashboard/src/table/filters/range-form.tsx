import { Button, Stack } from '@mantine/core';
import type { ReactNode } from 'react';

export type RangeEnd = 'from' | 'to';

type RangeFormProps = {
  field: (end: RangeEnd) => ReactNode;
  onApply: () => void;
  size: 'md' | 'xs';
  /** Fields that apply themselves when they are left need no button. */
  hasButton?: boolean;
};

/** The two ends of a range. */
export function RangeForm({ field, onApply, size, hasButton = true }: RangeFormProps) {
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onApply();
      }}
    >
      <Stack gap="xs">
        {field('from')}
        {field('to')}
        {hasButton ? (
          <Button size={size} type="submit">
            Apply
          </Button>
        ) : null}
      </Stack>
    </form>
  );
}

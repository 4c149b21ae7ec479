import { Text } from '@mantine/core';

/** Stands where a row has no value. */
export function Nothing() {
  return (
    <Text component="span" c="dimmed" className="nothing">
      –
    </Text>
  );
}

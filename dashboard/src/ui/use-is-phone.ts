import { useMediaQuery } from '@mantine/hooks';

/** As app.css has it: below, rows are those of a phone. */
const PHONE_QUERY = '(max-width: 48em)';

/** Whether the window is as narrow as a phone. */
export function useIsPhone(): boolean {
  return useMediaQuery(PHONE_QUERY) ?? false;
}

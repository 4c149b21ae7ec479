import { type RefObject, useEffect, useRef } from 'react';

/**
 * For the first field of a step: the button that led to it is gone, and the focus with it. A dialog itself knows `data-autofocus`, and
 * looks for it only when it opens.
 */
export function useFocusAtStart(): RefObject<HTMLInputElement | null> {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  return field;
}

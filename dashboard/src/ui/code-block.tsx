import { Code } from '@mantine/core';

/** Lines that may be wider than the page. Whoever has no mouse scrolls them with the arrow keys, so they take the focus. */
export function CodeBlock({ children }: { children: string }) {
  return (
    <Code block tabIndex={0}>
      {children}
    </Code>
  );
}

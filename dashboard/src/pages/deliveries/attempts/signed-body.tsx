import { CopyButton, Group, ScrollArea, Text, Title } from '@mantine/core';

/** The body as it is signed and sent, byte for byte. */
export function SignedBody({ body }: { body: string }) {
  return (
    <section>
      <Group justify="space-between" mb="xs">
        <Title order={2} size="h4">
          Body
        </Title>
        <CopyButton value={body}>
          {({ copied, copy }) => (
            <button type="button" className="text-button" onClick={copy}>
              {copied ? 'Copied' : 'Copy'}
            </button>
          )}
        </CopyButton>
      </Group>
      <Text size="xs" c="dimmed" mb="xs">
        The signature covers the attempt’s <code>t</code>, a dot, and exactly these bytes. A receiver that parses the
        body and writes it again verifies something else.
      </Text>
      {/* What scrolls takes the focus, so that keys reach all of it. */}
      <ScrollArea.Autosize mah={384} className="body-bytes" viewportProps={{ tabIndex: 0 }}>
        <pre className="answer">{body}</pre>
      </ScrollArea.Autosize>
    </section>
  );
}

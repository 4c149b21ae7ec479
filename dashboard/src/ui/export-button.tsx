import { Button } from '@mantine/core';

/** Downloads a list as a CSV file. A phone has no room for it beside the page's own action. */
export function ExportButton({ href }: { href: string }) {
  return (
    <Button variant="default" component="a" href={href} download visibleFrom="sm">
      Export CSV
    </Button>
  );
}

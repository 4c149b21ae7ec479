import { Button, Group, Select, Stack, Table, Text } from '@mantine/core';
import { useSuspenseQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { queryClient, useOperation } from '../../api/queries.ts';
import { formatNumber, formatTime } from '../../format.ts';
import { type ImportFile, importQuery } from './import-queries.ts';
import { ZipInput } from './zip-input.tsx';

const KEY_COLUMN = 'stock_number';

type ColumnsStepProps = { fileId: string; onChecked: (jobId: string) => void };

/** Which column of the file means what: guessed or remembered, and corrected here. */
export function ColumnsStep({ fileId, onChecked }: ColumnsStepProps) {
  const { data: file } = useSuspenseQuery(importQuery(fileId));
  const [mapping, setMapping] = useState(file.mapping);
  const [problem, setProblem] = useState<string | null>(null);
  const check = useOperation('POST /imports/{file_id}/check', {
    onSuccess({ job_id: id }) {
      // As the service now remembers it.
      queryClient.setQueryData(importQuery(fileId).queryKey, { ...file, mapping });
      onChecked(id);
    },
    onFailure(error) {
      if (error.field !== 'mapping') return false;
      setProblem(error.message);
      return true;
    },
  });
  const choose = (index: number, name: string) => {
    setProblem(null);
    // A column has one meaning: taken elsewhere, it is free there.
    setMapping(mapping.map((one, at) => (at === index ? name : one === name ? '' : one)));
  };
  const hasKey = mapping.includes(KEY_COLUMN);
  const unused = mapping.filter((name) => name === '').length;
  return (
    <Stack>
      <Text size="sm">
        {file.name}:{' '}
        {file.kind === 'part'
          ? counted(file.line_count, 'part', 'parts')
          : counted(file.line_count, 'watch', 'watches')}{' '}
        in {counted(file.headings.length, 'column', 'columns')}. {unusedText(unused)} The file is kept until{' '}
        {formatTime(file.kept_until)}.
      </Text>
      <MappingTable file={file} mapping={mapping} onChoose={choose} />
      <ZipInput fileId={fileId} zipName={file.zip_name} />
      {problem === null && hasKey ? null : (
        <Text size="sm" c="ruby" role="alert">
          {problem ?? 'Choose the column with the stock number: it says which item a line means.'}
        </Text>
      )}
      <Group justify="flex-end">
        <Button
          disabled={!hasKey}
          loading={check.isPending}
          onClick={() => check.mutate({ params: { file_id: fileId }, body: { mapping } })}
        >
          Check all lines
        </Button>
      </Group>
    </Stack>
  );
}

type MappingTableProps = { file: ImportFile; mapping: string[]; onChoose: (index: number, name: string) => void };

function counted(count: number, one: string, many: string): string {
  return `${formatNumber(count)} ${count === 1 ? one : many}`;
}

function unusedText(unused: number): string {
  if (unused === 0) return 'All of them are used.';
  return unused === 1 ? 'One of them is not used.' : `${formatNumber(unused)} of them are not used.`;
}

function MappingTable({ file, mapping, onChoose }: MappingTableProps) {
  const options = [
    { value: '', label: 'Not used' },
    ...file.columns.map(({ name, label }) => ({ value: name, label })),
  ];
  return (
    <Table.ScrollContainer minWidth={320}>
      <Table verticalSpacing={4}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>In the file</Table.Th>
            <Table.Th visibleFrom="sm">For example</Table.Th>
            <Table.Th>Means</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {file.headings.map(({ heading, samples }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: columns of a file never move, and may have the same heading.
            <Table.Tr key={index}>
              <Table.Td>{heading === '' ? `Column ${index + 1}` : heading}</Table.Td>
              <Table.Td visibleFrom="sm">
                <Text size="xs" c="dimmed" lineClamp={1}>
                  {samples.join(' · ')}
                </Text>
              </Table.Td>
              <Table.Td>
                <Select
                  aria-label={`Meaning of ${heading === '' ? `column ${index + 1}` : heading}`}
                  size="xs"
                  data={options}
                  value={mapping[index] ?? ''}
                  onChange={(name) => onChoose(index, name ?? '')}
                  allowDeselect={false}
                  searchable
                />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

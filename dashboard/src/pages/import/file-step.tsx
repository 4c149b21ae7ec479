import { Alert, Anchor, Button, FileInput, Group, List, Progress, SegmentedControl, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { IMPORT_FILE_LIMIT_MB, IMPORT_LINES_LIMIT } from '../../../../src/contract/dashboard/limits.ts';
import { BYTES_PER_MB } from '../../../../src/contract/limits.ts';
import { ApiFailure, apiUrl } from '../../api/client.ts';
import { uploadFile } from '../../api/upload.ts';
import { formatNumber } from '../../format.ts';
import { Icon } from '../../ui/icons.tsx';

const CUT_OFF = 'The upload was cut off. Nothing was imported: check your connection and try again.';

type FileStepProps = { kind: 'listing' | 'part'; onUploaded: (fileId: string) => void };

/** Choose what is in the file, and the file. */
export function FileStep({ kind: givenKind, onUploaded }: FileStepProps) {
  const [kind, setKind] = useState(givenKind);
  const [file, setFile] = useState<File | null>(null);
  const [percent, setPercent] = useState<number | null>(null);
  const [problem, setProblem] = useState<string | null>(null);

  function choose(chosen: File | null): void {
    const isTooLarge = chosen !== null && chosen.size > IMPORT_FILE_LIMIT_MB * BYTES_PER_MB;
    setProblem(isTooLarge ? `A CSV file may have at most ${IMPORT_FILE_LIMIT_MB} MB. Split it into several.` : null);
    setFile(isTooLarge ? null : chosen);
  }

  async function upload(): Promise<void> {
    if (file === null) return;
    setProblem(null);
    setPercent(0);
    try {
      const url = apiUrl('POST /imports', { query: { kind, name: file.name } });
      const { file_id: id } = await uploadFile<{ file_id: string }>(url, file, setPercent);
      onUploaded(id);
    } catch (error) {
      setProblem(error instanceof ApiFailure ? error.message : CUT_OFF);
    } finally {
      setPercent(null);
    }
  }

  return (
    <Stack
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        choose(event.dataTransfer.files[0] ?? null);
      }}
    >
      <SegmentedControl
        aria-label="What is in the file"
        value={kind}
        onChange={(value) => setKind(value as 'listing' | 'part')}
        data={[
          { value: 'listing', label: 'Watches' },
          { value: 'part', label: 'Parts' },
        ]}
        w="fit-content"
      />
      <FileInput
        label="CSV file"
        description={`Commas or semicolons, UTF-8 or UTF-16. At most ${IMPORT_FILE_LIMIT_MB} MB and ${formatNumber(IMPORT_LINES_LIMIT)} lines.`}
        placeholder="Choose a file, or drop it here"
        leftSection={<Icon name="import" size={16} />}
        accept=".csv,.txt,.tsv,text/csv,text/plain"
        value={file}
        onChange={choose}
        error={problem}
        clearable
      />
      {percent === null ? null : <Progress value={percent} aria-label="Progress of the upload" />}
      <Group justify="flex-end">
        <Button onClick={() => void upload()} disabled={file === null} loading={percent !== null}>
          Upload
        </Button>
      </Group>
      <Alert title="How a file is read" color="steel">
        <List size="sm">
          <List.Item>The stock number says which item a line means. Lines with a new one become new items.</List.Item>
          <List.Item>
            An empty cell keeps what is there. The word “none” clears it; as a text it has an apostrophe in front:
            {"'None"}.
          </List.Item>
          <List.Item>
            An item that is not in the file stays as it is. The same file a second time changes nothing.
          </List.Item>
          <List.Item>Units of a sold or reserved item are not raised, unless the column “restock” says yes.</List.Item>
        </List>
        <Text size="sm" mt="xs">
          To begin, <Anchor href={apiUrl('GET /stock/export.csv', { query: { kind } })}>export your stock</Anchor>,
          change it in a spreadsheet and import it again.
        </Text>
      </Alert>
    </Stack>
  );
}

import { FileInput, Progress, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { IMPORT_ZIP_LIMIT_MB } from '../../../../src/contract/dashboard/limits.ts';
import { BYTES_PER_MB } from '../../../../src/contract/limits.ts';
import { ApiFailure, apiUrl } from '../../api/client.ts';
import { uploadFile } from '../../api/upload.ts';
import { formatNumber } from '../../format.ts';

const TOO_LARGE = `A zip with photos may have at most ${IMPORT_ZIP_LIMIT_MB} MB. Split it into several.`;

/** A zip with photos beside the file, if there is one. It is uploaded as soon as it is chosen. */
export function ZipInput({ fileId, zipName }: { fileId: string; zipName: string | null }) {
  const [percent, setPercent] = useState<number | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [note, setNote] = useState(zipName === null ? null : `${zipName} is there.`);

  async function upload(zip: File | null): Promise<void> {
    if (zip === null) return;
    if (zip.size > IMPORT_ZIP_LIMIT_MB * BYTES_PER_MB) return setProblem(TOO_LARGE);
    setProblem(null);
    setPercent(0);
    try {
      const url = apiUrl('POST /imports/{file_id}/photos', { params: { file_id: fileId }, query: { name: zip.name } });
      const { photo_count: count } = await uploadFile<{ photo_count: number }>(url, zip, setPercent);
      setNote(`${zip.name}: ${formatNumber(count)} ${count === 1 ? 'photo' : 'photos'}.`);
    } catch (error) {
      setProblem(error instanceof ApiFailure ? error.message : 'The upload was cut off. Choose the zip again.');
    } finally {
      setPercent(null);
    }
  }

  return (
    <Stack gap={4}>
      <FileInput
        label="Photos in a zip (if you have them)"
        description={`Named by stock number (W-1042.jpg, W-1042-2.jpg) or in folders of that name. At most ${IMPORT_ZIP_LIMIT_MB} MB.`}
        placeholder="Choose a zip"
        accept=".zip,application/zip"
        onChange={(zip) => void upload(zip)}
        error={problem}
      />
      {percent === null ? null : <Progress value={percent} aria-label="Progress of the upload of photos" />}
      {note === null ? null : <Text size="sm">{note}</Text>}
    </Stack>
  );
}

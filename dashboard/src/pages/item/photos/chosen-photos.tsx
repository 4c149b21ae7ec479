import { ActionIcon, Group, Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import { PHOTOS_PER_ITEM_LIMIT } from '../../../../../src/contract/limits.ts';
import { Icon } from '../../../ui/icons.tsx';
import { PhotoSection } from './photo-section.tsx';
import { BROKEN, refusalOf, TOO_MANY } from './photo-uploads.ts';

/** `isOff` once the item is being saved: what is added from then on belongs to its page. */
type ChosenPhotosProps = { files: File[]; isOff: boolean; onChange: (change: (files: File[]) => File[]) => void };

/** Photos of an item that is not stored yet. They are uploaded when it is saved; its page then orders and turns them. */
export function ChosenPhotos({ files, isOff, onChange }: ChosenPhotosProps) {
  const [refusals, setRefusals] = useState<string[]>([]);
  function add(chosen: File[]): void {
    const right = [...files];
    const refused: string[] = [];
    for (const file of chosen) {
      const problem = refusalOf(file) ?? (right.length < PHOTOS_PER_ITEM_LIMIT ? null : TOO_MANY);
      if (problem === null) right.push(file);
      else refused.push(`${file.name}: ${problem}`);
    }
    setRefusals(refused);
    onChange(() => right);
  }
  function refuse(file: File): void {
    setRefusals((before) => [...before, `${file.name}: ${BROKEN}`]);
    onChange((now) => now.filter((one) => one !== file));
  }
  return (
    <PhotoSection version={files.map(({ name }) => name).join('/')} isOff={isOff} onFiles={add}>
      {files.length === 0 ? (
        <Text size="sm" c="dimmed">
          Drop photos here, or choose Add photos. They are uploaded when you save.
        </Text>
      ) : (
        <ul className="photo-grid">
          {files.map((file, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the same file may be chosen twice; its place tells them apart.
            <li key={`${index} ${file.name}`}>
              <Preview file={file} onBroken={() => refuse(file)} />
              <Group gap="xs" wrap="nowrap" justify="space-between">
                <Text size="xs" truncate>
                  {file.name}
                </Text>
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  aria-label={`Remove ${file.name}`}
                  title={`Remove ${file.name}`}
                  onClick={() => onChange((now) => now.filter((_, at) => at !== index))}
                >
                  <Icon name="close" size={16} />
                </ActionIcon>
              </Group>
            </li>
          ))}
        </ul>
      )}
      {refusals.map((refusal) => (
        <Text key={refusal} size="sm" c="var(--ruby)" role="alert">
          {refusal}
        </Text>
      ))}
    </PhotoSection>
  );
}

function Preview({ file, onBroken }: { file: File; onBroken: () => void }) {
  const [url, setUrl] = useState<string | null>(null);
  useEffect(() => {
    const made = URL.createObjectURL(file);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [file]);
  return (
    <span className="photo-handle">
      {url === null ? null : <img src={url} alt="" width={160} height={160} onError={onBroken} />}
    </span>
  );
}

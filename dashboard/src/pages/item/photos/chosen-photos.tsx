import { ActionIcon, Button, Group, Text, Title } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { PHOTOS_PER_ITEM_LIMIT } from '../../../../../src/contract/limits.ts';
import { Icon } from '../../../ui/icons.tsx';
import { PHOTO_TYPES, refusalOf } from './photo-uploads.ts';

/** `isOff` once the item is being saved: what is added from then on belongs to its page. */
type ChosenPhotosProps = { files: File[]; isOff: boolean; onChange: (files: File[]) => void };

/** Photos of an item that is not stored yet. They are uploaded when it is saved; its page then orders and turns them. */
export function ChosenPhotos({ files, isOff, onChange }: ChosenPhotosProps) {
  const input = useRef<HTMLInputElement>(null);
  const [refusals, setRefusals] = useState<string[]>([]);
  function add(chosen: File[]): void {
    const problems = chosen.map((file) => ({ file, problem: refusalOf(file) }));
    setRefusals(problems.flatMap(({ file, problem }) => (problem === null ? [] : [`${file.name}: ${problem}`])));
    const right = problems.filter(({ problem }) => problem === null).map(({ file }) => file);
    onChange([...files, ...right].slice(0, PHOTOS_PER_ITEM_LIMIT));
  }
  return (
    <section
      className="item-section"
      aria-label="Photos"
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        if (!isOff) add([...event.dataTransfer.files]);
      }}
    >
      <Group justify="space-between">
        <Title order={2} size="h4">
          Photos
        </Title>
        <Button size="xs" variant="default" disabled={isOff} onClick={() => input.current?.click()}>
          Add photos
        </Button>
      </Group>
      <input
        ref={input}
        type="file"
        aria-label="Photo files"
        className="visually-hidden"
        tabIndex={-1}
        disabled={isOff}
        multiple
        accept={PHOTO_TYPES}
        onChange={(event) => {
          add([...(event.currentTarget.files ?? [])]);
          event.currentTarget.value = '';
        }}
      />
      {files.length === 0 ? (
        <Text size="sm" c="dimmed">
          Drop photos here, or choose Add photos. They are uploaded when you save.
        </Text>
      ) : (
        <ul className="photo-grid">
          {files.map((file, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the same file may be chosen twice; its place tells them apart.
            <li key={`${index} ${file.name}`}>
              <Preview file={file} />
              <Group gap="xs" wrap="nowrap" justify="space-between">
                <Text size="xs" truncate>
                  {file.name}
                </Text>
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  aria-label={`Remove ${file.name}`}
                  title={`Remove ${file.name}`}
                  onClick={() => onChange(files.filter((_, at) => at !== index))}
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
    </section>
  );
}

function Preview({ file }: { file: File }) {
  const [url, setUrl] = useState<string | null>(null);
  useEffect(() => {
    const made = URL.createObjectURL(file);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [file]);
  return (
    <span className="photo-handle">{url === null ? null : <img src={url} alt="" width={160} height={160} />}</span>
  );
}

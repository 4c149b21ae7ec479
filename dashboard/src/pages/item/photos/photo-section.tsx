import { Button, Group, Title } from '@mantine/core';
import { type ReactNode, useRef } from 'react';
import { useKeptFocus } from '../../../ui/kept-focus.ts';
import { PHOTO_TYPES } from './photo-uploads.ts';

/** `version` changes with the photos that are shown. */
type PhotoSectionProps = { version: string; isOff?: boolean; onFiles: (files: File[]) => void; children: ReactNode };

/** The part of a page that takes photos: dropped anywhere on it, or chosen. `isOff` while it takes none. */
export function PhotoSection({ version, isOff = false, onFiles, children }: PhotoSectionProps) {
  const input = useRef<HTMLInputElement>(null);
  const section = useRef<HTMLElement>(null);
  useKeptFocus(section, version);
  return (
    <section
      ref={section}
      className="item-section"
      aria-label="Photos"
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        if (!isOff) onFiles([...event.dataTransfer.files]);
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
          onFiles([...(event.currentTarget.files ?? [])]);
          event.currentTarget.value = '';
        }}
      />
      {children}
    </section>
  );
}

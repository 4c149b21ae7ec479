import { ActionIcon, Button, Group, Progress, Text, Title } from '@mantine/core';
import { useRef, useState } from 'react';
import { PHOTO_LIMIT_BYTES, PHOTOS_PER_ITEM_LIMIT } from '../../../../src/contract/limits.ts';
import { ApiFailure } from '../../api/client.ts';
import { useOperation } from '../../api/queries.ts';
import { Icon, type IconName } from '../../ui/icons.tsx';
import { toastError } from '../../ui/toasts.ts';
import type { Item } from './item-queries.ts';
import { uploadPhoto } from './upload-photo.ts';

type Upload = { key: number; name: string; percent: number; error: string | null };

/** The photos of an item: dropped or chosen, many at once; ordered by dragging or with buttons; turned; taken away. */
export function PhotoPanel({ item, onChanged }: { item: Item; onChanged: () => void }) {
  const [uploads, setUploads] = useState<Upload[]>([]);
  const [order, setOrder] = useState<string[] | null>(null);
  const [dragged, setDragged] = useState<string | null>(null);
  const input = useRef<HTMLInputElement>(null);
  const reorder = useOperation('PUT /items/{item_id}/photos');
  const rotate = useOperation('POST /items/{item_id}/photos/{photo_id}/rotate', { onSuccess: onChanged });
  const remove = useOperation('DELETE /items/{item_id}/photos/{photo_id}', { onSuccess: onChanged });
  const restore = useOperation('POST /items/{item_id}/photos/{photo_id}/restore', { onSuccess: onChanged });
  const [removed, setRemoved] = useState<string | null>(null);
  const byId = new Map(item.photos.map((photo) => [photo.id, photo]));
  const ids = order ?? item.photos.map(({ id }) => id);

  async function add(files: Iterable<File>): Promise<void> {
    for (const file of files) {
      const key = Date.now() + Math.random();
      const change = (next: Partial<Upload>) =>
        setUploads((all) => all.map((one) => (one.key === key ? { ...one, ...next } : one)));
      setUploads((all) => [...all, { key, name: file.name, percent: 0, error: null }]);
      if (file.size > PHOTO_LIMIT_BYTES) {
        change({ error: 'A photo may have at most 25 MB. Make it smaller and try again.' });
        continue;
      }
      try {
        await uploadPhoto(item.id, file, (percent) => change({ percent }));
        setUploads((all) => all.filter((one) => one.key !== key));
        onChanged();
      } catch (error) {
        change({ error: error instanceof ApiFailure ? error.message : 'The upload was cut off. Try again.' });
      }
    }
  }

  function move(id: string, to: number): void {
    const rest = ids.filter((one) => one !== id);
    const next = [...rest.slice(0, to), id, ...rest.slice(to)];
    setOrder(next);
    reorder.mutate(
      { params: { item_id: item.id }, body: { photo_ids: next } },
      {
        onSettled() {
          setOrder(null);
          onChanged();
        },
        onError: toastError,
      },
    );
  }

  const paramsOf = (photoId: string) => ({ params: { item_id: item.id, photo_id: photoId } });
  return (
    <section
      className="item-section"
      aria-label="Photos"
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        void add(event.dataTransfer.files);
      }}
    >
      <Group justify="space-between">
        <Title order={2} size="h4">
          Photos
        </Title>
        <Button size="xs" variant="default" onClick={() => input.current?.click()}>
          Add photos
        </Button>
      </Group>
      <input
        ref={input}
        type="file"
        aria-label="Photo files"
        className="visually-hidden"
        tabIndex={-1}
        multiple
        accept="image/jpeg,image/png,image/webp,image/avif"
        onChange={(event) => {
          void add([...(event.currentTarget.files ?? [])]);
          event.currentTarget.value = '';
        }}
      />
      <ul className="photo-grid">
        {ids.flatMap((id, index) => {
          const photo = byId.get(id);
          if (photo === undefined) return [];
          const name = `photo ${index + 1}`;
          return [
            <li
              key={id}
              draggable
              data-dragged={dragged === id || undefined}
              onDragStart={() => setDragged(id)}
              onDragEnd={() => setDragged(null)}
              onDrop={(event) => {
                if (dragged === null) return;
                event.stopPropagation();
                event.preventDefault();
                move(dragged, index);
                setDragged(null);
              }}
            >
              <a href={photo.url} target="_blank" rel="noreferrer" draggable={false}>
                <img src={photo.thumbnail_url} alt={`${index + 1} of ${item.title}`} width={160} height={160} />
              </a>
              <Group gap={2} justify="center" wrap="nowrap">
                <PhotoButton
                  label={`Move ${name} forward`}
                  icon="back"
                  isOff={index === 0}
                  onClick={() => move(id, index - 1)}
                />
                <PhotoButton
                  label={`Turn ${name}`}
                  icon="turn"
                  isOff={rotate.isPending}
                  onClick={() => rotate.mutate(paramsOf(id))}
                />
                <PhotoButton
                  label={`Remove ${name}`}
                  icon="close"
                  isOff={remove.isPending}
                  onClick={() => remove.mutate(paramsOf(id), { onSuccess: () => setRemoved(id) })}
                />
                <PhotoButton
                  label={`Move ${name} back`}
                  icon="forward"
                  isOff={index === ids.length - 1}
                  onClick={() => move(id, index + 1)}
                />
              </Group>
            </li>,
          ];
        })}
        {ids.length === 0 && uploads.length === 0 ? (
          <li className="photo-empty">
            <Icon name={item.kind === 'part' ? 'part' : 'watch'} size={40} />
            <Text size="sm">Drop photos here: JPEG, PNG, WebP or AVIF, at most 25 MB and 50 megapixels each.</Text>
          </li>
        ) : null}
      </ul>
      {uploads.map(({ key, name, percent, error }) => (
        <div key={key} role={error === null ? undefined : 'alert'}>
          <Group gap="xs" wrap="nowrap">
            <Text size="sm" c={error === null ? undefined : 'var(--ruby)'}>
              {error === null ? name : `${name}: ${error}`}
            </Text>
            {error === null ? null : (
              <Button
                size="compact-xs"
                variant="subtle"
                onClick={() => setUploads((all) => all.filter((one) => one.key !== key))}
              >
                Close
              </Button>
            )}
          </Group>
          {error === null ? <Progress value={percent} aria-label={`Upload of ${name}`} /> : null}
        </div>
      ))}
      {removed === null ? null : (
        <Group gap="xs" role="status">
          <Text size="sm">Photo removed.</Text>
          <Button
            size="compact-xs"
            variant="subtle"
            onClick={() => restore.mutate(paramsOf(removed), { onSuccess: () => setRemoved(null) })}
          >
            Undo
          </Button>
        </Group>
      )}
      <Text size="xs" c="dimmed">
        {item.photos.length} of {PHOTOS_PER_ITEM_LIMIT}. The first one is the main photo.
      </Text>
    </section>
  );
}

type PhotoButtonProps = { label: string; icon: IconName; isOff: boolean; onClick: () => void };

function PhotoButton({ label, icon, isOff, onClick }: PhotoButtonProps) {
  return (
    <ActionIcon variant="subtle" color="gray" aria-label={label} title={label} disabled={isOff} onClick={onClick}>
      <Icon name={icon} size={16} />
    </ActionIcon>
  );
}

import { Button, Group, Progress, Skeleton, Text } from '@mantine/core';
import { lazy, Suspense, useState } from 'react';
import { PHOTOS_PER_ITEM_LIMIT } from '../../../../../src/contract/limits.ts';
import { useOperation } from '../../../api/queries.ts';
import { Icon } from '../../../ui/icons.tsx';
import { LeaveGuard } from '../../../ui/page/leave-guard.tsx';
import { useUndo } from '../../audit/undo.ts';
import type { Item } from '../item-queries.ts';
import { PhotoSection } from './photo-section.tsx';
import { type Upload, usePhotoUploads } from './photo-uploads.ts';

/** Dragging is a library of its own, which only this panel needs. */
const PhotoGrid = lazy(async () => ({ default: (await import('./photo-grid.tsx')).PhotoGrid }));

/** The photos of an item: dropped or chosen, many at once; ordered by dragging or with buttons; turned; taken away. */
export function PhotoPanel({ item, onChanged }: { item: Item; onChanged: () => Promise<void> }) {
  const { uploads, isBusy, add, retry, dismiss } = usePhotoUploads(item.id, () => void onChanged());
  const { photos, isChanging, move, turn, remove } = usePhotos(item, onChanged);
  const addFiles = (files: Iterable<File>) => add(files, item.photos.length);
  return (
    <PhotoSection version={[...photos.map(({ id }) => id), ...uploads.map(({ key }) => key)].join()} onFiles={addFiles}>
      {photos.length === 0 ? null : (
        <Suspense fallback={<Skeleton height={180} />}>
          <PhotoGrid
            title={item.title}
            photos={photos}
            isBusy={isChanging}
            onMove={move}
            onTurn={turn}
            onRemove={remove}
          />
        </Suspense>
      )}
      {photos.length === 0 && uploads.length === 0 ? (
        <div className="photo-empty">
          <Icon name={item.kind === 'part' ? 'part' : 'watch'} size={40} />
          <Text size="sm">Drop photos here, or choose Add photos.</Text>
        </div>
      ) : null}
      <UploadList uploads={uploads} onRetry={retry} onDismiss={dismiss} />
      <LeaveGuard isDirty={isBusy} what="photos that are not uploaded yet" />
      <Text size="xs" c="dimmed">
        {item.photos.length} of {PHOTOS_PER_ITEM_LIMIT}. JPEG, PNG, WebP or AVIF, at most 25 MB each. The first one is
        the main photo.
      </Text>
    </PhotoSection>
  );
}

/** The photos as they are about to be: a new order shows at once, and falls back if it is refused. */
function usePhotos(item: Item, onChanged: () => Promise<void>) {
  const [order, setOrder] = useState<string[] | null>(null);
  const { offer } = useUndo();
  const reorder = useOperation('PUT /items/{item_id}/photos', { queue: `photos of ${item.id}` });
  // A turned photo is a new one: until the page knows it, nothing else may be done with the old.
  const rotate = useOperation('POST /items/{item_id}/photos/{photo_id}/rotate', { onSuccess: onChanged });
  const remove = useOperation('DELETE /items/{item_id}/photos/{photo_id}', {
    async onSuccess({ audit_id: auditId }) {
      offer('Photo removed.', auditId);
      await onChanged();
    },
  });
  const byId = new Map(item.photos.map((photo) => [photo.id, photo]));
  // A photo that came or went meanwhile is where the service says, whatever order is wished for: a turned one has come.
  const wished = (order ?? []).filter((id) => byId.has(id));
  const ids = item.photos.reduce((all, { id }, at) => (all.includes(id) ? all : all.toSpliced(at, 0, id)), wished);
  const paramsOf = (photoId: string) => ({ params: { item_id: item.id, photo_id: photoId } });

  function move(id: string, to: number): void {
    const rest = ids.filter((one) => one !== id);
    const next = [...rest.slice(0, to), id, ...rest.slice(to)];
    setOrder(next);
    reorder.mutate(
      { params: { item_id: item.id }, body: { photo_ids: next } },
      {
        async onSettled() {
          await onChanged();
          // Unless another wish has followed.
          setOrder((now) => (now === next ? null : now));
        },
      },
    );
  }

  return {
    photos: ids.flatMap((id) => byId.get(id) ?? []),
    isChanging: rotate.isPending || remove.isPending,
    move,
    turn: (photoId: string) => rotate.mutate(paramsOf(photoId)),
    remove: (photoId: string) => remove.mutate(paramsOf(photoId)),
  };
}

type UploadListProps = { uploads: Upload[]; onRetry: (upload: Upload) => void; onDismiss: (key: number) => void };

function UploadList({ uploads, onRetry, onDismiss }: UploadListProps) {
  if (uploads.length === 0) return null;
  const left = uploads.filter(({ state }) => state !== 'failed').length;
  return (
    <div className="upload-list">
      {left > 1 ? (
        <Text size="sm" role="status">
          {left} photos to go
        </Text>
      ) : null}
      {uploads.map((upload) => (
        <UploadLine key={upload.key} upload={upload} onRetry={onRetry} onDismiss={onDismiss} />
      ))}
    </div>
  );
}

function UploadLine({ upload, onRetry, onDismiss }: Omit<UploadListProps, 'uploads'> & { upload: Upload }) {
  const { key, file, state, percent, error, canRetry } = upload;
  if (state !== 'failed') {
    return (
      <div>
        <Text size="sm" truncate>
          {file.name}
          {state === 'waiting' ? ' (waiting)' : ''}
        </Text>
        <Progress value={percent} aria-label={`Upload of ${file.name}`} />
      </div>
    );
  }
  return (
    <Group gap="xs" wrap="nowrap" role="alert" align="flex-start">
      <Text size="sm" c="var(--ruby)" flex={1}>
        {file.name}: {error}
      </Text>
      {canRetry ? (
        <Button size="compact-xs" variant="default" onClick={() => onRetry(upload)}>
          Try again
        </Button>
      ) : null}
      <Button size="compact-xs" variant="subtle" onClick={() => onDismiss(key)}>
        Dismiss
      </Button>
    </Group>
  );
}

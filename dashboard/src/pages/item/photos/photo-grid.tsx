import { DragDropProvider } from '@dnd-kit/react';
import { isSortable, useSortable } from '@dnd-kit/react/sortable';
import { ActionIcon, Group } from '@mantine/core';
import { Icon, type IconName } from '../../../ui/icons.tsx';
import type { Item } from '../item-queries.ts';

type Photo = Item['photos'][number];

type PhotoGridProps = {
  title: string;
  photos: Photo[];
  isBusy: boolean;
  onMove: (photoId: string, to: number) => void;
  onTurn: (photoId: string) => void;
  onRemove: (photoId: string) => void;
};

/**
 * The photos in their order. A photo is dragged by its picture: with the mouse, with a finger that rests on it first, or
 * with Space and the arrow keys. The buttons do the same one step at a time.
 */
export function PhotoGrid(props: PhotoGridProps) {
  const { photos, onMove } = props;
  return (
    <DragDropProvider
      onDragEnd={({ canceled: isCancelled, operation: { source } }) => {
        if (isCancelled || !isSortable(source) || source.index === source.initialIndex) return;
        onMove(String(source.id), source.index);
      }}
    >
      <ul className="photo-grid">
        {photos.map((photo, index) => (
          <PhotoTile key={photo.id} {...props} photo={photo} index={index} />
        ))}
      </ul>
    </DragDropProvider>
  );
}

function PhotoTile(props: PhotoGridProps & { photo: Photo; index: number }) {
  const { title, photo, photos, index, isBusy, onMove, onTurn, onRemove } = props;
  const { ref, handleRef, isDragging } = useSortable({ id: photo.id, index });
  const name = `photo ${index + 1}`;
  return (
    <li ref={ref} data-row-key={photo.id} data-dragged={isDragging || undefined}>
      <button ref={handleRef} type="button" className="photo-handle" aria-label={`Drag ${name} of ${title}`}>
        <img src={photo.thumbnail_url} alt="" width={160} height={160} draggable={false} />
        {index === 0 ? <span className="photo-main">Main</span> : null}
      </button>
      <Group gap={0} justify="center" wrap="nowrap">
        <PhotoButton
          label={`Move ${name} earlier`}
          icon="back"
          isOff={index === 0}
          onClick={() => onMove(photo.id, index - 1)}
        />
        <PhotoButton label={`Turn ${name}`} icon="turn" isOff={isBusy} onClick={() => onTurn(photo.id)} />
        <ActionIcon
          component="a"
          href={photo.url}
          target="_blank"
          rel="noreferrer"
          variant="subtle"
          color="gray"
          aria-label={`Open ${name} in full size`}
          title={`Open ${name} in full size`}
        >
          <Icon name="search" size={16} />
        </ActionIcon>
        <PhotoButton label={`Remove ${name}`} icon="close" isOff={isBusy} onClick={() => onRemove(photo.id)} />
        <PhotoButton
          label={`Move ${name} later`}
          icon="forward"
          isOff={index === photos.length - 1}
          onClick={() => onMove(photo.id, index + 1)}
        />
      </Group>
    </li>
  );
}

type PhotoButtonProps = { label: string; icon: IconName; isOff: boolean; onClick: () => void };

function PhotoButton({ label, icon, isOff, onClick }: PhotoButtonProps) {
  return (
    // Not `disabled`: that would take the focus away from whoever has just pressed it.
    <ActionIcon
      variant="subtle"
      color="gray"
      aria-label={label}
      title={label}
      data-disabled={isOff || undefined}
      aria-disabled={isOff}
      onClick={() => isOff || onClick()}
    >
      <Icon name={icon} size={16} />
    </ActionIcon>
  );
}

import type { SquareName } from '../../../inventory/photos/photo-variants.ts';

/** The address of an item's photo as a square for cards, or small for the rows of lists; null if it has no photo. */
export function photoUrl(publicUrl: string, photoId: string | null, square: SquareName): string | null {
  return photoId === null ? null : `${publicUrl}/photos/${photoId}-${square}.webp`;
}

/**
 * The variants of a photo: the original as it was stored, the whole picture in another format, and square thumbnails. A variant
 * is made when somebody first asks for it (photo-reader.ts), by encode-photos.ts.
 */
export type PhotoFormat = 'jpeg' | 'png' | 'webp' | 'avif';

export const PHOTO_EXTENSIONS = ['jpg', 'png', 'webp', 'avif'] as const;
export type PhotoExtension = (typeof PHOTO_EXTENSIONS)[number];

export const EXTENSION_OF: Record<PhotoFormat, PhotoExtension> = {
  jpeg: 'jpg',
  png: 'png',
  webp: 'webp',
  avif: 'avif',
};
export const FORMAT_OF: Record<PhotoExtension, PhotoFormat> = { jpg: 'jpeg', png: 'png', webp: 'webp', avif: 'avif' };

/**
 * The square thumbnails and their sides in pixels. Websites and cards show `square`. The dashboard's rows show `small`: 32 to
 * 56 px wide, on screens with up to three pixels for each of them.
 */
export const SQUARE_SIDES_PX = { square: 480, small: 144 } as const;
export type SquareName = keyof typeof SQUARE_SIDES_PX;
export const SQUARE_NAMES = Object.keys(SQUARE_SIDES_PX) as SquareName[];

/** As it was stored, the whole picture in another format, or a square thumbnail. `svg` is a drawing of the demo. */
export type PhotoFileName = `original.${PhotoExtension | 'svg'}` | `${'full' | SquareName}.${PhotoExtension}`;

/** The stored original. A photo of the demo is a drawing until somebody looks at it. */
export function originalNames(format: PhotoFormat): [PhotoFileName, PhotoFileName] {
  return [`original.${EXTENSION_OF[format]}`, 'original.svg'];
}

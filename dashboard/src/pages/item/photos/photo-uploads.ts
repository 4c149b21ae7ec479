import { useEffect, useRef, useState } from 'react';
import { PHOTO_LIMIT_BYTES, PHOTOS_PER_ITEM_LIMIT } from '../../../../../src/contract/limits.ts';
import { ApiFailure } from '../../../api/client.ts';
import { uploadPhoto } from './upload-photo.ts';

export type Upload = {
  key: number;
  file: File;
  state: 'waiting' | 'sending' | 'failed';
  percent: number;
  /** Why it failed, and what to do. */
  error: string | null;
  /** The same file may succeed another time. */
  canRetry: boolean;
};

let lastKey = 0;

/** Photos that were chosen for an item before it was stored. They wait for its page. */
const chosenBefore = new Map<string, File[]>();

/** The page of the item uploads these as soon as it opens. */
export function uploadOnPage(itemId: string, files: File[]): void {
  if (files.length > 0) chosenBefore.set(itemId, files);
}

/** Uploads files one after another, so that photos stand in the order in which they were chosen. */
export function usePhotoUploads(itemId: string, onUploaded: () => void) {
  const [uploads, setUploads] = useState<Upload[]>([]);
  const queue = useRef<Upload[]>([]);
  const isRunning = useRef(false);

  const change = (key: number, next: Partial<Upload>) =>
    setUploads((all) => all.map((one) => (one.key === key ? { ...one, ...next } : one)));
  const dismiss = (key: number) => {
    queue.current = queue.current.filter((one) => one.key !== key);
    setUploads((all) => all.filter((one) => one.key !== key));
  };

  async function run(): Promise<void> {
    if (isRunning.current) return;
    isRunning.current = true;
    for (let next = queue.current.shift(); next !== undefined; next = queue.current.shift()) await send(next);
    isRunning.current = false;
  }

  async function send({ key, file }: Upload): Promise<void> {
    change(key, { state: 'sending', percent: 0, error: null });
    try {
      await uploadPhoto(itemId, file, (percent) => change(key, { percent }));
      dismiss(key);
      onUploaded();
    } catch (error) {
      const failure = error instanceof ApiFailure ? error : null;
      const message = failure?.message ?? 'The upload was cut off. Nothing else is lost: try it again.';
      change(key, { state: 'failed', error: message, canRetry: failure === null || failure.status !== 400 });
    }
  }

  function add(files: Iterable<File>, photoCount: number): void {
    let room = PHOTOS_PER_ITEM_LIMIT - photoCount - queue.current.length;
    const made = [...files].map((file): Upload => {
      lastKey += 1;
      const error = refusalOf(file) ?? (room <= 0 ? TOO_MANY : null);
      if (error === null) room -= 1;
      const state = error === null ? 'waiting' : 'failed';
      return { key: lastKey, file, state, percent: 0, error, canRetry: false };
    });
    setUploads((all) => [...all, ...made]);
    queue.current.push(...made.filter(({ state }) => state === 'waiting'));
    void run();
  }

  function retry(upload: Upload): void {
    change(upload.key, { state: 'waiting', error: null });
    queue.current.push(upload);
    void run();
  }

  // biome-ignore lint/correctness/useExhaustiveDependencies: what was chosen before is taken once, when the page opens.
  useEffect(() => {
    const files = chosenBefore.get(itemId);
    chosenBefore.delete(itemId);
    if (files !== undefined) add(files, 0);
  }, [itemId]);

  return { uploads, isBusy: uploads.some(({ state }) => state !== 'failed'), add, retry, dismiss };
}

export const TOO_MANY = `An item has at most ${PHOTOS_PER_ITEM_LIMIT} photos. Remove some first.`;
/** What the dialog of the browser offers. */
export const PHOTO_TYPES = 'image/jpeg,image/png,image/webp,image/avif';
const HEIC = /\.hei[cf]$/i;
/** Some systems know no type of a file; then its name has to do. */
const PHOTO_NAME = /\.(?:jpe?g|png|webp|avif)$/i;
export const BROKEN = 'This file is damaged, or it is no picture. Choose another one.';

/** What would be refused after the upload is refused before it. */
export function refusalOf(file: File): string | null {
  if (HEIC.test(file.name) || /^image\/hei[cf]/.test(file.type)) {
    return 'This is an HEIC photo, which browsers can’t show. Save it as JPEG and add that. On an iPhone, choose Settings, Camera, Formats, Most Compatible.';
  }
  const isPhoto = file.type === '' ? PHOTO_NAME.test(file.name) : PHOTO_TYPES.split(',').includes(file.type);
  if (!isPhoto) return 'This is no photo. Add JPEG, PNG, WebP or AVIF.';
  if (file.size > PHOTO_LIMIT_BYTES) return 'A photo may have at most 25 MB. Make it smaller and add it again.';
  return file.size === 0 ? 'The file is empty.' : null;
}

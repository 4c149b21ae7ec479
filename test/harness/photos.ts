import sharp from 'sharp';
import { PUBLIC_URL, type World } from './world.ts';

/** A plain picture of this size. */
export async function picture(
  format: 'jpeg' | 'png' | 'webp' | 'avif',
  width: number,
  height: number,
): Promise<Buffer> {
  const background = { r: 40, g: 90, b: 160 };
  return await sharp({ create: { width, height, channels: 3, background } })
    .toFormat(format)
    .toBuffer();
}

/** Loads what a document names from where the test's server listens. */
export async function loadPhoto(world: World, url: string, options: RequestInit = {}) {
  const response = await fetch(url.replace(PUBLIC_URL, world.origin), { redirect: 'error', ...options });
  return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) };
}

import { type Attack, type Scene, scaled } from './attack.ts';

/** Variants that no one has asked for yet, each made once. */
function variants(photos: string[]): string[] {
  return photos.flatMap((name) => {
    const id = name.slice(0, name.indexOf('.'));
    return ['.webp', '.avif', '-square.jpg', '-square.webp', '-square.avif'].map((ending) => `/photos/${id}${ending}`);
  });
}

function ask(scene: Scene, method: string, abortAfterMs?: number): Promise<void> {
  const paths = variants(scene.photos);
  // The paths are shared out, so that each attack meets photos whose variants don't exist yet.
  const own = paths.filter((_, index) => index % 3 === ['GET', 'HEAD', 'aborted'].indexOf(method));
  return scene.client.flood({ count: scaled(scene, 60), atOnce: 56 }, (index) => ({
    method: method === 'HEAD' ? 'HEAD' : 'GET',
    path: own[index % own.length] as string,
    isAnonymous: true,
    ...(abortAfterMs === undefined ? {} : { abortAfterMs }),
  }));
}

/** Nobody needs a key to see photos. */
export const PHOTO_ATTACKS: Attack[] = [
  { name: 'photo variants (no key)', needs: 'photos', run: (scene) => ask(scene, 'GET') },
  { name: 'photo variants by HEAD (no key)', needs: 'photos', run: (scene) => ask(scene, 'HEAD') },
  { name: 'photo variants, aborted (no key)', needs: 'photos', run: (scene) => ask(scene, 'aborted', 50) },
];

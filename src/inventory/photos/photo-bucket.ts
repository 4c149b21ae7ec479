import type { Readable } from 'node:stream';
import type { PutObjectCommandInput, S3Client } from '@aws-sdk/client-s3';
import { folderOf, type PhotoFiles } from './photo-files.ts';

/** A bucket of S3, or of anything that speaks its protocol. */
export type BucketSettings = {
  bucket: string;
  region: string;
  /** Null is Amazon's own. */
  endpoint: string | null;
  /** Null lets the client find credentials by itself: the machine's role, or a profile. */
  credentials: { accessKeyId: string; secretAccessKey: string } | null;
  /** The bucket's name stands in the path instead of the host's name, as most servers other than Amazon's want it. */
  isPathStyle: boolean;
  /** In front of every key, such as `crownwheel/`; may be empty. */
  prefix: string;
};

const CONTENT_TYPES: Record<string, string> = {
  jpg: 'image/jpeg',
  png: 'image/png',
  webp: 'image/webp',
  avif: 'image/avif',
  svg: 'image/svg+xml',
};
const CONNECT_TIMEOUT_MS = 3_000;
const REQUEST_TIMEOUT_MS = 30_000;

/** S3 itself shows an object only when all of it is there. The client is large, so only those who use it load it. */
export async function photoBucket(settings: BucketSettings): Promise<PhotoFiles> {
  const s3 = await import('@aws-sdk/client-s3');
  const { bucket: Bucket, prefix } = settings;
  const client: S3Client = new s3.S3Client({
    region: settings.region,
    forcePathStyle: settings.isPathStyle,
    requestHandler: { connectionTimeout: CONNECT_TIMEOUT_MS, requestTimeout: REQUEST_TIMEOUT_MS },
    // Other servers than Amazon's refuse checksums that they do not know.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    ...(settings.endpoint === null ? {} : { endpoint: settings.endpoint }),
    ...(settings.credentials === null ? {} : { credentials: settings.credentials }),
  });
  const keyOf = (photoId: string, name: string) => `${prefix}${folderOf(photoId)}/${name}`;

  async function* keysUnder(keyPrefix: string): AsyncIterable<string[]> {
    let token: string | undefined;
    do {
      const page = await client.send(
        new s3.ListObjectsV2Command({ Bucket, Prefix: keyPrefix, ...(token ? { ContinuationToken: token } : {}) }),
      );
      yield (page.Contents ?? []).flatMap(({ Key }) => (Key === undefined ? [] : [Key]));
      token = page.NextContinuationToken;
    } while (token !== undefined);
  }

  async function get(photoId: string, name: string) {
    try {
      return await client.send(new s3.GetObjectCommand({ Bucket, Key: keyOf(photoId, name) }));
    } catch (error) {
      if (error instanceof s3.NoSuchKey) return null;
      throw error;
    }
  }

  return {
    async write(photoId, name, bytes) {
      const ContentType = CONTENT_TYPES[name.split('.').at(-1) ?? ''];
      const input: PutObjectCommandInput = { Bucket, Key: keyOf(photoId, name), Body: bytes };
      await client.send(new s3.PutObjectCommand({ ...input, ...(ContentType ? { ContentType } : {}) }));
    },
    async read(photoId, name) {
      const found = await get(photoId, name);
      return found?.Body === undefined ? null : Buffer.from(await found.Body.transformToByteArray());
    },
    async open(photoId, name) {
      const found = await get(photoId, name);
      if (found?.Body === undefined) return null;
      return { stream: found.Body as Readable, size: found.ContentLength ?? 0 };
    },
    async remove(photoIds) {
      for (const id of photoIds) {
        for await (const keys of keysUnder(keyOf(id, ''))) {
          if (keys.length === 0) continue;
          const Objects = keys.map((Key) => ({ Key }));
          await client.send(new s3.DeleteObjectsCommand({ Bucket, Delete: { Objects, Quiet: true } }));
        }
      }
    },
    async *list() {
      let last = '';
      for await (const keys of keysUnder(prefix)) {
        const ids = [...new Set(keys.map((key) => key.slice(prefix.length).split('/')[1] ?? ''))];
        // A photo whose files are spread over two pages was named before.
        yield ids.filter((id) => id !== last);
        last = ids.at(-1) ?? last;
      }
    },
    async check() {
      await client.send(new s3.ListObjectsV2Command({ Bucket, Prefix: prefix, MaxKeys: 1 }));
    },
  };
}

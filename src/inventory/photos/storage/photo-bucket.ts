import { pipeline, type Readable, Transform } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { PutObjectCommandInput, S3Client } from '@aws-sdk/client-s3';
import { FILE_BYTES_MAX, folderOf, MARKER_BYTES_MAX, MARKER_NAME, type PhotoFiles } from './photo-files.ts';

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
  /** The prefix of every key, such as `crownwheel/`; it may be empty. */
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
const PRECONDITION_FAILED = 412;

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

  /** A server need not say how long its answer is, and one that does not is believed no further than the limit. */
  async function get(Key: string, bytesMax: number): Promise<{ stream: Readable; size: number | null } | null> {
    try {
      const { Body, ContentLength } = await client.send(new s3.GetObjectCommand({ Bucket, Key }));
      if (Body === undefined) return null;
      const body = Body as Readable;
      if (ContentLength === undefined) return { stream: limited(body, Key, bytesMax), size: null };
      if (ContentLength <= bytesMax) return { stream: body, size: ContentLength };
      body.destroy();
      throw new Error(`${Key} has ${ContentLength} bytes, more than the ${bytesMax} that are read`);
    } catch (error) {
      if (error instanceof s3.NoSuchKey) return null;
      throw error;
    }
  }

  async function put(Key: string, Body: Buffer, ContentType: string | undefined, isNew: boolean): Promise<void> {
    const input: PutObjectCommandInput = { Bucket, Key, Body };
    const type = ContentType === undefined ? {} : { ContentType };
    await client.send(new s3.PutObjectCommand({ ...input, ...type, ...(isNew ? { IfNoneMatch: '*' } : {}) }));
  }

  return {
    async write(photoId, name, bytes) {
      await put(keyOf(photoId, name), bytes, CONTENT_TYPES[name.split('.').at(-1) ?? ''], false);
    },
    async read(photoId, name) {
      const found = await get(keyOf(photoId, name), FILE_BYTES_MAX);
      return found === null ? null : await buffer(found.stream);
    },
    open: (photoId, name) => get(keyOf(photoId, name), FILE_BYTES_MAX),
    async stat(photoId, name) {
      try {
        const found = await client.send(new s3.HeadObjectCommand({ Bucket, Key: keyOf(photoId, name) }));
        return { size: found.ContentLength ?? null };
      } catch (error) {
        if (statusOf(error) === 404) return null;
        throw error;
      }
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
    async readMarker() {
      const found = await get(`${prefix}${MARKER_NAME}`, MARKER_BYTES_MAX);
      return found === null ? null : (await buffer(found.stream)).toString();
    },
    async writeMarker(text, mode) {
      try {
        await put(`${prefix}${MARKER_NAME}`, Buffer.from(text), 'application/json', mode === 'new');
        return true;
      } catch (error) {
        if (mode === 'new' && statusOf(error) === PRECONDITION_FAILED) return false;
        throw error;
      }
    },
  };
}

function limited(body: Readable, key: string, bytesMax: number): Readable {
  let bytes = 0;
  const limit = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes <= bytesMax) done(null, chunk);
      else done(new Error(`${key} has more than the ${bytesMax} bytes that are read`));
    },
  });
  // Whoever reads gets the error; both ends are destroyed with it.
  return pipeline(body, limit, () => {});
}

function statusOf(error: unknown): number | undefined {
  return (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;
}

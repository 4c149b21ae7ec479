import { pipeline, type Readable, Transform } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { PutObjectCommandInput, S3Client } from '@aws-sdk/client-s3';
import { FILE_BYTES_MAX, folderOf, MARKER_BYTES_MAX, MARKER_NAME, type PhotoFiles } from './photo-files.ts';
import { notS3 } from './photo-storage-error.ts';

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
/** How long one attempt may take to begin its answer to a visitor. The client tries again, on another connection. */
const FIRST_BYTE_MS = 5_000;
/** How long a connection of the service itself may be silent. */
const SILENCE_MS = 10_000;
/** More than visitors may read at once, so none of them waits for a connection here. */
const VISITORS_SOCKETS = 300;
/** Uploads, imports, originals that are read for variants, and the sweep. */
const OWN_SOCKETS = 64;
const PRECONDITION_FAILED = 412;

/** S3 itself shows an object only when all of it is there. The client is large, so only those who use it load it. */
export async function photoBucket(settings: BucketSettings): Promise<PhotoFiles> {
  const s3 = await import('@aws-sdk/client-s3');
  const { bucket: Bucket, prefix } = settings;
  const connect = (timeouts: object, maxSockets: number): S3Client =>
    new s3.S3Client({
      region: settings.region,
      forcePathStyle: settings.isPathStyle,
      requestHandler: {
        connectionTimeout: CONNECT_TIMEOUT_MS,
        ...timeouts,
        httpAgent: { maxSockets },
        httpsAgent: { maxSockets },
      },
      // Other servers than Amazon's refuse checksums that they do not know.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      ...(settings.endpoint === null ? {} : { endpoint: settings.endpoint }),
      ...(settings.credentials === null ? {} : { credentials: settings.credentials }),
    });
  // Nobody has to say who they are to read a photo. If all connections were in one pool, visitors who never read what they
  // asked for would take those that uploads need. A visitor who reads slowly makes a connection silent, too.
  const visitors = connect({ requestTimeout: FIRST_BYTE_MS, throwOnRequestTimeout: true }, VISITORS_SOCKETS);
  const own = connect({ socketTimeout: SILENCE_MS }, OWN_SOCKETS);
  const keyOf = (photoId: string, name: string) => `${prefix}${folderOf(photoId)}/${name}`;

  async function* keysUnder(keyPrefix: string, signal?: AbortSignal): AsyncIterable<string[]> {
    let token: string | undefined;
    do {
      const page = await own.send(
        new s3.ListObjectsV2Command({ Bucket, Prefix: keyPrefix, ...(token ? { ContinuationToken: token } : {}) }),
        until(signal),
      );
      yield (page.Contents ?? []).flatMap(({ Key }) => (Key === undefined ? [] : [Key]));
      token = page.NextContinuationToken;
    } while (token !== undefined);
  }

  /** A server need not say how long its answer is, and one that does not is believed no further than the limit. */
  async function get(
    client: S3Client,
    Key: string,
    bytesMax: number,
    signal?: AbortSignal,
  ): Promise<{ stream: Readable; size: number | null } | null> {
    try {
      const { Body, ContentLength } = await client.send(new s3.GetObjectCommand({ Bucket, Key }), until(signal));
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

  async function put(Key: string, Body: Buffer, options: PutOptions, signal?: AbortSignal): Promise<void> {
    await own.send(new s3.PutObjectCommand({ Bucket, Key, Body, ...options }), until(signal));
  }

  return {
    async write(photoId, name, bytes, signal) {
      const type = CONTENT_TYPES[name.split('.').at(-1) ?? ''];
      await put(keyOf(photoId, name), bytes, type === undefined ? {} : { ContentType: type }, signal);
    },
    async read(photoId, name, signal) {
      const found = await get(own, keyOf(photoId, name), FILE_BYTES_MAX, signal);
      return found === null ? null : await buffer(found.stream);
    },
    open: (photoId, name, signal) => get(visitors, keyOf(photoId, name), FILE_BYTES_MAX, signal),
    async stat(photoId, name, signal) {
      try {
        const asked = new s3.HeadObjectCommand({ Bucket, Key: keyOf(photoId, name) });
        return { size: (await visitors.send(asked, until(signal))).ContentLength ?? null };
      } catch (error) {
        if (statusOf(error) === 404) return null;
        throw error;
      }
    },
    async remove(photoIds, signal) {
      for (const id of photoIds) {
        for await (const keys of keysUnder(keyOf(id, ''), signal)) {
          if (keys.length === 0) continue;
          const Objects = keys.map((Key) => ({ Key }));
          await own.send(new s3.DeleteObjectsCommand({ Bucket, Delete: { Objects, Quiet: true } }), until(signal));
        }
      }
    },
    async *list(signal) {
      let last = '';
      for await (const keys of keysUnder(prefix, signal)) {
        const ids = [...new Set(keys.map((key) => key.slice(prefix.length).split('/')[1] ?? ''))];
        // A photo whose files are spread over two pages was named before.
        yield ids.filter((id) => id !== last);
        last = ids.at(-1) ?? last;
      }
    },
    async check(signal) {
      const asked = new s3.ListObjectsV2Command({ Bucket, Prefix: prefix, MaxKeys: 1 });
      const { Name, KeyCount, Contents } = await own.send(asked, until(signal));
      // Any page of a website that happens to be well-formed is read as an empty list.
      if (Name === undefined && KeyCount === undefined && Contents === undefined) throw new Error(notS3('HTTP 200'));
    },
    async readMarker(signal) {
      const found = await get(own, `${prefix}${MARKER_NAME}`, MARKER_BYTES_MAX, signal);
      return found === null ? null : (await buffer(found.stream)).toString();
    },
    async writeMarker(text, mode, signal) {
      const options = { ContentType: 'application/json', ...(mode === 'new' ? { IfNoneMatch: '*' } : {}) };
      try {
        await put(`${prefix}${MARKER_NAME}`, Buffer.from(text), options, signal);
        return true;
      } catch (error) {
        if (mode === 'new' && statusOf(error) === PRECONDITION_FAILED) return false;
        throw error;
      }
    },
  };
}

type PutOptions = Pick<PutObjectCommandInput, 'ContentType' | 'IfNoneMatch'>;

function until(signal: AbortSignal | undefined): { abortSignal?: AbortSignal } {
  return signal === undefined ? {} : { abortSignal: signal };
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

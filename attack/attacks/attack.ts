import type { Client } from '../client.ts';
import type { Random } from '../random.ts';

/** One way to harm others with what one client may do. */
export type Attack = {
  name: string;
  /** Data that the attacker has brought in before, in the usual ways. */
  needs?:
    | 'events'
    | 'large orders'
    | 'large cancelled orders'
    | 'many units'
    | 'many integrations'
    | 'photos'
    | 'hanging receiver'
    | 'receiver with many headers'
    | 'receiver with tiny TLS records'
    | 'staff'
    | 'staff photos'
    | 'staff with a hanging receiver'
    | 'staff with many sessions'
    | 'staff with many locations'
    | 'large stock';
  /** Makes what the rounds send, before anything is measured. */
  prepare?(): void;
  /** One round: what one client may do in a minute. It is repeated until the neighbour has been measured often enough. */
  run(scene: Scene): Promise<void>;
};

export type Scene = AttackerAccount & {
  client: Client;
  random: Random;
  /** The number of this round, from 1 on. */
  round: number;
  /** 1 is the full attack; the short run of the tests takes a part of it. */
  scale: number;
};

export type AttackerAccount = {
  key: string;
  /** The keys of all integrations of the attacker; that of `key` is the first. */
  keys: string[];
  /** Names under /photos of photos with their original format. */
  photos: string[];
  /** Ids of the attacker's listings. */
  listingIds: string[];
  /** Ids of large orders that are cancelled. */
  orderIds: string[];
  /** Null unless the attack needs somebody who is signed in. */
  staff: Staff | null;
};

/** Somebody of the attacker's team who is signed in to the dashboard, and what an attack may use there. */
export type Staff = {
  cookie: string;
  /** Of all their sessions. */
  cookies: string[];
  origin: string;
  integrationId: string;
  itemIds: string[];
  /** Uploaded files that wait for their zips. */
  fileIds: string[];
  /** A JPEG, as base64, so that it can travel to the attacker's process. */
  photo: string;
};

export function scaled(scene: Scene, count: number): number {
  return Math.max(1, Math.round(count * scene.scale));
}

/** A body that is made once, when it is first needed: the attacker's own work is no part of what is measured. */
export function madeOnce<Body>(make: () => Body): () => Body {
  let made: { body: Body } | null = null;
  return () => {
    made ??= { body: make() };
    return made.body;
  };
}

let keys = 0;

/** The headers of a write. */
export function idempotent(name = ''): Record<string, string> {
  keys += 1;
  return { 'idempotency-key': name === '' ? `attack-${process.pid}-${keys}` : name };
}

/** The header of one of the attacker's integrations, another one for each number. */
export function byKeyOf({ keys }: Scene, index: number): Record<string, string> {
  return { authorization: `Bearer ${keys[index % keys.length]}` };
}

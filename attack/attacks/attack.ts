import type { Client } from '../client.ts';
import type { Random } from '../random.ts';

/** One way to harm others with what one client may do. */
export type Attack = {
  name: string;
  /** Data that the attacker has brought in before, in the usual ways. */
  needs?: 'events' | 'large orders' | 'photos' | 'hanging receiver';
  run(scene: Scene): Promise<void>;
};

export type Scene = {
  client: Client;
  key: string;
  random: Random;
  /** 1 is the full attack; the short run of the tests takes a part of it. */
  scale: number;
  /** Names under /photos of photos with their original format. */
  photos: string[];
};

export function scaled(scene: Scene, count: number): number {
  return Math.max(1, Math.round(count * scene.scale));
}

let keys = 0;

/** The headers of a write. */
export function idempotent(name = ''): Record<string, string> {
  keys += 1;
  return { 'idempotency-key': name === '' ? `attack-${process.pid}-${keys}` : name };
}

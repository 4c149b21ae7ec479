import type { ChannelContext } from '../../../channel/context.ts';
import { DomainError } from '../../../contract/domain-error.ts';
import { ApiError, type ErrorCode } from '../../../contract/errors.ts';
import type { Transaction, TransactionOptions } from '../../../db/database.ts';
import type { AdmittedIntegration } from '../authentication.ts';

/**
 * The description of a kind of write, such as the report of an order. The executor does the rest: the key, the record,
 * the replay, the queue, the transaction and what becomes of its faults.
 */
export type WriteKind<Input, Prepared = unknown> = {
  /** The code of a fault in the work or in its commit. */
  failureCode: ErrorCode;
  /** Names the lock that the work needs. Writes with the same lock wait for each other in the process. */
  lockOf(integration: AdmittedIntegration): string;
  /** How many writes may share a transaction. They are of one integration, and all live or all test. */
  batchLimit: number;
  transaction?: TransactionOptions;
  /**
   * The first lock of the work and what is read behind it, if neither depends on what is asked for: it is sent together with
   * the look for recorded answers, in one round trip. It must not write, because the answers may be replays.
   */
  prepare?(tx: Transaction, channel: ChannelContext, integration: AdmittedIntegration): Promise<Prepared>;
  /**
   * Does the work of several writes in their order, in one transaction: a result for each. What concerns one of them
   * alone, as a conflict, is a refusal among the results and leaves nothing behind. What it throws fails for all, and the
   * executor then tries each alone.
   *
   * What is done in one go must be bounded by the bytes that are handled. If the documents are large, the work does the
   * first writes and returns their results alone, at least one; the others run in the next transaction.
   */
  work(
    tx: Transaction,
    channel: ChannelContext,
    items: AtLeastOne<WriteItem<Input>>,
    prepared: Prepared,
  ): Promise<WorkDone>;
};

export type AtLeastOne<Item> = [Item, ...Item[]];

/** One write: who asked, as it was admitted, and for what. */
export type WriteItem<Input> = { integration: AdmittedIntegration; input: Input };

export type WorkDone = {
  results: WriteResult[];
  /** Integrations with new events; their delivery workers are woken after the commit. */
  touched: string[];
};

/** What is answered: a body that is JSON text already, and whether it is about test data. */
export type WriteSuccess = {
  status: number;
  body: string;
  isTest: boolean;
};
/** Why a write can't be done, in the words of the domain or of the API. */
export type Refusal = DomainError | ApiError;
export type WriteResult = WriteSuccess | Refusal;

export function isRefusal(value: unknown): value is Refusal {
  return value instanceof DomainError || value instanceof ApiError;
}

/** Runs a step that concerns one write alone; what it refuses becomes that write's result. */
export function orRefusal<Value>(step: () => Value): Value | Refusal {
  try {
    return step();
  } catch (error) {
    if (isRefusal(error)) return error;
    throw error;
  }
}

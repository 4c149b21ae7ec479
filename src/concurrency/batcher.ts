/** How many calls one batch may carry; the rest form the next one. */
const BATCH_LIMIT = 5_000;

/**
 * Makes one call out of many that arrive together: while a batch is under way the next one gathers. A call never joins
 * a batch that has already begun, so what it learns is never older than its own arrival.
 */
export function gather<Input, Output>(
  runBatch: (inputs: Input[]) => Promise<Output[]>,
  { onIdle = () => {} }: { onIdle?: () => void } = {},
): (input: Input) => Promise<Output> {
  type Waiting = {
    input: Input;
    resolve: (output: Output) => void;
    reject: (error: unknown) => void;
  };
  let waiting: Waiting[] = [];
  let isRunning = false;

  async function settle(batch: Waiting[]): Promise<void> {
    try {
      const outputs = await runBatch(batch.map((one) => one.input));
      if (outputs.length !== batch.length) {
        throw new Error(`a batch of ${batch.length} calls got ${outputs.length} answers`);
      }
      for (const [index, one] of batch.entries()) one.resolve(outputs[index] as Output);
    } catch (error) {
      for (const one of batch) one.reject(error);
    }
  }

  async function drain(): Promise<void> {
    isRunning = true;
    // The callers of this very turn of the event loop join the first batch.
    await Promise.resolve();
    while (waiting.length > 0) {
      const batch = waiting.slice(0, BATCH_LIMIT);
      waiting = waiting.slice(BATCH_LIMIT);
      await settle(batch);
    }
    isRunning = false;
    onIdle();
  }

  return (input) =>
    new Promise<Output>((resolve, reject) => {
      waiting.push({ input, resolve, reject });
      if (!isRunning) void drain();
    });
}

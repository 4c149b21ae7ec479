/** Waits for something that has no time limit of its own; if it takes too long, fails with its name. */
export async function withinLimit<Result>(what: string, limitMs: number, work: Promise<Result>): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took more than ${limitMs / 1_000} s`)), limitMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
    // What comes late fails for nobody.
    work.catch(() => {});
  }
}

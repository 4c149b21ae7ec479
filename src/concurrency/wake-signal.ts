/** Lets one loop sleep until it is rung or the time is up; a ring while it is awake is not lost. */
export type Bell = { ring(): void; wait(ms: number): Promise<void> };

export function createBell(): Bell {
  let isRung = false;
  let answer: (() => void) | null = null;
  return {
    ring() {
      isRung = true;
      answer?.();
    },
    async wait(ms) {
      if (!isRung) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms);
          answer = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      answer = null;
      isRung = false;
    },
  };
}

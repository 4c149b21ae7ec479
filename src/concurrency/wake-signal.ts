/** Lets one loop sleep until it is woken or the time is up. A wake-up while it works is not lost: its next wait ends at once. */
export type WakeSignal = { wake(): void; wait(ms: number): Promise<void> };

export function createWakeSignal(): WakeSignal {
  let isWoken = false;
  let endWait: (() => void) | null = null;
  return {
    wake() {
      isWoken = true;
      endWait?.();
    },
    async wait(ms) {
      if (!isWoken) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms);
          endWait = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      endWait = null;
      isWoken = false;
    },
  };
}

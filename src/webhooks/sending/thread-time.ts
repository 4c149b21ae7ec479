/** CPU time of this thread, because the time of a thread that waits for a processor is nobody's fault. */
export function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/** Tells the shell that the session has ended, from wherever that was noticed. */
const target = new EventTarget();

export function announceSessionEnd(): void {
  target.dispatchEvent(new Event('end'));
}

export function onSessionEnd(listener: () => void): () => void {
  target.addEventListener('end', listener);
  return () => target.removeEventListener('end', listener);
}

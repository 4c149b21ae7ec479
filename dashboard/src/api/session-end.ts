/** Tells the shell that the session has ended, from wherever that was noticed. */
const target = new EventTarget();
let sessionNumber = 0;

/** Which session a request belongs to: one that was on its way when somebody signed in again says nothing about the new one. */
export function currentSession(): number {
  return sessionNumber;
}

export function startNextSession(): void {
  sessionNumber += 1;
}

export function announceSessionEnd(session: number): void {
  if (session === sessionNumber) target.dispatchEvent(new Event('end'));
}

export function onSessionEnd(listener: () => void): () => void {
  target.addEventListener('end', listener);
  return () => target.removeEventListener('end', listener);
}

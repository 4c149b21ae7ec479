/** A state in its colour, with its word: colour alone says nothing to many people. */
export type Tone = 'good' | 'busy' | 'bad' | 'warn' | 'off' | 'info';

export function Status({ tone, children }: { tone: Tone; children: string }) {
  return (
    <span className="status" data-tone={tone}>
      {children}
    </span>
  );
}

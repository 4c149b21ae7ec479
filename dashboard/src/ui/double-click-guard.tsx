import { type ReactNode, useEffect, useState } from 'react';

/** Longer than the slowest double-click, and shorter than anybody needs to read what has come up. */
const GUARD_MS = 700;

type DoubleClickGuardProps = {
  /** Names what is shown. When it changes, the guard begins anew. */
  shows?: string;
  children: ReactNode;
};

/**
 * Around buttons that come up where another button was, as in the next step of a form, in a dialog, or in the row that
 * moves up when one is removed. For a moment nothing happens there: the second click of a double-click, or of somebody
 * impatient, was meant for the button before.
 */
export function DoubleClickGuard({ shows = '', children }: DoubleClickGuardProps) {
  const [armed, setArmed] = useState<string | null>(null);
  useEffect(() => {
    const timer = setTimeout(() => setArmed(shows), GUARD_MS);
    return () => clearTimeout(timer);
  }, [shows]);
  return (
    <div className="double-click-guard" inert={armed !== shows}>
      {children}
    </div>
  );
}

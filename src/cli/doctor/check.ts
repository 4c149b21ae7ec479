/**
 * One thing that the doctor looked at: what was found and, if it is wrong, how to mend it. A check that is not wrong
 * may still be a warning, which says how to get rid of it.
 */
export type Check = { name: string; isOk: boolean; message: string; mend: string | null };

export function ok(name: string, message: string): Check {
  return { name, isOk: true, message, mend: null };
}

export function warning(name: string, message: string, mend: string): Check {
  return { name, isOk: true, message, mend };
}

export function wrong(name: string, message: string, mend: string): Check {
  return { name, isOk: false, message, mend };
}

export function isWarning(check: Check): boolean {
  return check.isOk && check.mend !== null;
}

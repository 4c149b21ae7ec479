/** Marks what was made in test mode, so that nobody ships it. */
export function TestBadge() {
  return <span className="test-badge">Test</span>;
}

/** The service is out of reach, as while it restarts. The page goes on by itself when it is back. */
export function ConnectionBanner({ isLost }: { isLost: boolean }) {
  if (!isLost) return null;
  return (
    <div className="banner" role="status">
      The service can’t be reached. What you have typed is safe; the page connects again by itself.
    </div>
  );
}

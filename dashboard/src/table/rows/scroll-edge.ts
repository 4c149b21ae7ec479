import { type RefObject, useEffect, useRef, useState } from 'react';

/** Whether columns are hidden beyond the right edge of a region that scrolls, so that a cut word is seen to go on. */
export function useScrollEdge(): { ref: RefObject<HTMLElement | null>; hasMore: boolean } {
  const ref = useRef<HTMLElement>(null);
  const [hasMore, setMore] = useState(false);
  useEffect(() => {
    const region = ref.current;
    if (region === null) return;
    // Widths are rounded; the last pixel says nothing.
    const look = () => setMore(region.scrollLeft + region.clientWidth < region.scrollWidth - 1);
    const observer = new ResizeObserver(look);
    for (const element of [region, ...region.children]) observer.observe(element);
    region.addEventListener('scroll', look, { passive: true });
    return () => {
      observer.disconnect();
      region.removeEventListener('scroll', look);
    };
  }, []);
  return { ref, hasMore };
}

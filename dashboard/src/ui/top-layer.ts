const LAYERS = '[role="dialog"], [role="menu"], [role="listbox"]';

let layer: Element | null = null;

// Before any other listener: by the time that the others hear of Escape, what it closes may be gone.
window.addEventListener(
  'keydown',
  () => {
    layer = [...document.querySelectorAll(LAYERS)].filter((one) => one.checkVisibility()).at(-1) ?? null;
  },
  { capture: true },
);

/**
 * The topmost dialog, menu or list of choices that was open when the last key went down; null for none. The key belongs to it, and
 * to nothing below.
 */
export function layerAtKeydown(): Element | null {
  return layer;
}

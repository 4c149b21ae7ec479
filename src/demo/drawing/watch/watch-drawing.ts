import type { WatchAttributes } from '../../../contract/resources/listing.ts';
import { type Look, lookOf } from '../look.ts';
import { scene } from '../scene.ts';
import { circle, ellipse, linear, MIDDLE, path, radial, rect } from '../shapes.ts';
import { drawBand } from './band.ts';
import { drawCase, type Frame, frameOf } from './case.ts';
import { drawDial } from './dial.ts';
import { drawHands } from './hands.ts';

/** A watch from the front, as an SVG document. */
export function drawWatch(watch: WatchAttributes, given: Partial<Look> = {}): string {
  const look = lookOf(watch, given);
  const frame = frameOf(watch, look);
  const band = drawBand(watch, look, {
    width: frame.band,
    start: look.shape === 'rectangle' ? frame.halfHeight * 0.9 : frame.outer * 0.72,
  });
  const body = drawCase(watch, look, frame);
  const dial = drawDial(watch, look, frame);
  const defs =
    band.defs +
    body.defs +
    dial.defs +
    linear(
      'inlay-shine',
      [
        [0, '#fff', 0.32],
        [0.3, '#fff', 0.02],
        [0.65, '#fff', 0],
        [1, '#fff', 0.16],
      ],
      50,
    ) +
    linear(
      'glass',
      [
        [0, '#fff', 0.3],
        [0.36, '#fff', 0.05],
        [0.42, '#fff', 0],
        [1, '#fff', 0],
      ],
      48,
    ) +
    linear('drop-band', [
      [0, '#000', 0.3],
      [0.7, '#000', 0.3],
      [1, '#000', 0],
    ]) +
    radial('drop', [
      [0, '#000', 0.5],
      [0.55, '#000', 0.26],
      [1, '#000', 0],
    ]);
  return scene(
    watch,
    defs,
    shadow(look, frame) +
      band.content +
      body.content +
      dial.content +
      drawHands(watch, look, frame) +
      glass(look, frame),
  );
}

/** Falls to the lower right: the light comes from the upper left. */
export function shadow(look: Look, frame: Frame): string {
  const { outer, band, halfWidth, halfHeight } = frame;
  const stripe = rect(MIDDLE - band * 0.3, -20, band * 0.8 + 66, 1240, 0, { fill: 'url(#drop-band)' });
  if (look.shape === 'rectangle') {
    return stripe + ellipse([MIDDLE + 34, MIDDLE + 40], halfWidth * 1.5, halfHeight * 1.2, { fill: 'url(#drop)' });
  }
  return stripe + circle([MIDDLE + 26, MIDDLE + 36], outer * 1.2, { fill: 'url(#drop)' });
}

/** A faint reflection over the upper left of the crystal. */
function glass(look: Look, frame: Frame): string {
  if (look.shape === 'rectangle') return '';
  const r = frame.dial;
  return (
    path(
      `M${MIDDLE - r} ${MIDDLE}A${r} ${r} 0 0 1 ${MIDDLE} ${MIDDLE - r}A${r * 1.5} ${r * 1.5} 0 0 0 ${MIDDLE - r} ${MIDDLE}Z`,
      { fill: '#ffffff', opacity: 0.09 },
    ) + circle([MIDDLE, MIDDLE], r, { fill: 'url(#glass)', opacity: 0.5 })
  );
}

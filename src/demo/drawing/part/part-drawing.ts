import type { ValueOf } from '../../../contract/enumerations.ts';
import type { PartAttributes } from '../../../contract/resources/part.ts';
import { type METALS, type Metal, metalOf } from '../colors.ts';
import { scene } from '../scene.ts';
import { group, linear, MIDDLE, silhouette } from '../shapes.ts';
import { metalGradients } from '../watch/case.ts';
import { box, gaskets, movement, papers, springBars, tool, wheels } from './part-inside.ts';
import {
  bracelet,
  buckle,
  caseBody,
  crown,
  crystal,
  dial,
  flutes,
  hands,
  inlay,
  pusher,
  ring,
  strap,
} from './part-outside.ts';

/** What a part is made of and looks like, beside its category. */
export type PartLook = { metal: keyof typeof METALS; color: string; isFluted?: boolean };

type Draw = (part: PartAttributes, look: PartLook, metal: Metal) => string;

/** A spare part on a neutral ground, as an SVG document. */
export function drawPart(part: PartAttributes, look: PartLook): string {
  const metal = metalOf(String(look.metal));
  const defs =
    metalGradients('metal', metal) +
    metalGradients('brass', metalOf('yellow_gold')) +
    linear(
      'glass',
      [
        [0, '#ffffff', 0.95],
        [0.35, '#dfe9f1', 0.5],
        [0.6, '#ffffff', 0.85],
        [1, '#b7c6d2', 0.7],
      ],
      50,
    ) +
    linear(
      'tint',
      [
        [0, '#fff', 0.22],
        [0.5, '#fff', 0],
        [1, '#000', 0.25],
      ],
      60,
    );
  const thing = group(
    DRAWINGS[part.category](part, look, metal),
    `translate(${MIDDLE} ${MIDDLE}) scale(1.16) translate(-${MIDDLE} -${MIDDLE})`,
  );
  const outline = silhouette(thing);
  const shadow = [10, 18, 26, 34]
    .map((away) => group(outline, `translate(${away * 0.75} ${away})`, 'opacity="0.07"'))
    .join('');
  return scene(part, defs, shadow + thing);
}

const DRAWINGS: Record<ValueOf<'part_category'>, Draw> = {
  bezel: (_part, look, metal) => ring(metal) + (look.isFluted ? flutes(metal) : inlay(look.color)),
  insert: (_part, look) => inlay(look.color, 340, 250),
  bracelet: (_part, _look, metal) => bracelet(metal, 9),
  bracelet_link: (_part, _look, metal) => bracelet(metal, 3),
  buckle: (_part, _look, metal) => buckle(metal),
  case: (_part, _look, metal) => caseBody(metal),
  crown: (_part, _look, metal) => crown(metal),
  crystal: () => crystal(),
  dial: (part, look) => dial(part, look.color),
  hands: (_part, look, metal) => hands(metal, look.color),
  movement: (part) => movement(part),
  movement_part: (part) => wheels(part),
  pusher: (_part, _look, metal) => pusher(metal),
  strap: (_part, look) => strap(look.color),
  gasket: (_part, look) => gaskets(look.color),
  box: (part, look) => box(part, look.color),
  papers: (part) => papers(part),
  tool: (_part, look) => tool(look.color),
  other: (_part, _look, metal) => springBars(metal),
};

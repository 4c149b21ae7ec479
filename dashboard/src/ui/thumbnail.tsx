import { Icon } from './icons.tsx';

type ThumbnailProps = {
  /** Null is of an item that nobody knows. */
  kind: 'listing' | 'part' | null;
  url: string | null;
  /** In pixels; unless given, the style sheet's size of a row. */
  size?: number;
};

const ROW_PX = 32;

/** The main photo of an item, or a drawing of its kind, so that rows stay aligned. */
export function Thumbnail({ kind, url, size }: ThumbnailProps) {
  const side = { width: size ?? ROW_PX, height: size ?? ROW_PX };
  const style = size === undefined ? {} : side;
  if (url !== null) return <img className="thumbnail" src={url} alt="" loading="lazy" style={style} {...side} />;
  return (
    <span className="thumbnail" data-empty="true" style={style}>
      <Icon name={kind === 'part' ? 'part' : 'watch'} size={Math.round(side.width / 2)} />
    </span>
  );
}

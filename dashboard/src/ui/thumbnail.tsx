import { Icon } from './icons.tsx';

type ThumbnailProps = {
  /** Null is of an item that nobody knows. */
  kind: 'listing' | 'part' | null;
  url: string | null;
  /** In pixels; that of a row unless given. */
  size?: number;
};

/** The main photo of an item, or a drawing of its kind, so that rows stay aligned. */
export function Thumbnail({ kind, url, size = 32 }: ThumbnailProps) {
  const side = { width: size, height: size };
  if (url !== null) return <img className="thumbnail" src={url} alt="" loading="lazy" style={side} {...side} />;
  return (
    <span className="thumbnail" data-empty="true" style={side}>
      <Icon name={kind === 'part' ? 'part' : 'watch'} size={Math.round(size / 2)} />
    </span>
  );
}

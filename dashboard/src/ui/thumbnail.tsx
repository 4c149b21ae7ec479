import { Icon } from './icons.tsx';

/** The main photo of an item at the size of a row, or a drawing of its kind. */
export function Thumbnail({ kind, url }: { kind: 'listing' | 'part'; url: string | null }) {
  if (url !== null) return <img className="thumbnail" src={url} alt="" loading="lazy" width={32} height={32} />;
  return (
    <span className="thumbnail" data-empty="true">
      <Icon name={kind === 'part' ? 'part' : 'watch'} size={16} />
    </span>
  );
}

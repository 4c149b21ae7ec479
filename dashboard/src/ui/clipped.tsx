/** A text of any length in a cell: what does not fit ends in an ellipsis, and the whole is its title. */
export function Clipped({ text, isWide = false }: { text: string; isWide?: boolean }) {
  return (
    <span className="clipped" data-wide={isWide || undefined} title={text}>
      {text}
    </span>
  );
}

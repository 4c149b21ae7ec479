import { BASE_PATH } from '../api/client.ts';

/** The crown wheel, as the docs draw it, and the product's name. */
export function Mark() {
  return (
    <span className="mark">
      <img src={`${BASE_PATH}/docs/api/icon.svg`} alt="" width={26} height={26} />
      <span>Crownwheel</span>
    </span>
  );
}
